/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HCOMM_TCP_H
#define HCOMM_TCP_H

int hcomm_tcp_init(void);
void hcomm_tcp_exit(void);

#endif /* HCOMM_TCP_H */

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HCOMM_UDP_H
#define HCOMM_UDP_H

int hcomm_udp_init(void);
void hcomm_udp_exit(void);

#endif /* HCOMM_UDP_H */

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HCOMM_LOOP_H
#define HCOMM_LOOP_H

int hcomm_loop_init(void);
void hcomm_loop_exit(void);

#endif /* HCOMM_LOOP_H */

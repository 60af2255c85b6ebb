// SPDX-License-Identifier: GPL-2.0
/* For tests that speak to ranks themselves, in the programs that run over AF_HCOMM. */
#include "../../lib/src/transport.c"

#include "t.h"

const bool t_real = true;

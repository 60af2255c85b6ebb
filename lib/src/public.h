/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/* For the files that define public functions: all else stays hidden. */
#ifndef HC_PUBLIC_H
#define HC_PUBLIC_H

#include <hcomm/hcomm.h>

#define HC_PUBLIC	__attribute__((visibility("default")))

#endif /* HC_PUBLIC_H */

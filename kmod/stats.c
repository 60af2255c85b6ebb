// SPDX-License-Identifier: GPL-2.0
#include "stats.h"

#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/string.h>

#include "net.h"

const char *const hcomm_stats_names[] = {
#define HCOMM_STATS_NAME(name) #name,
	HCOMM_STATS(HCOMM_STATS_NAME)
#undef HCOMM_STATS_NAME
};

unsigned int hcomm_stats_nr(void)
{
	static_assert(sizeof(struct hcomm_stats) ==
		      ARRAY_SIZE(hcomm_stats_names) * sizeof(u64));
	return ARRAY_SIZE(hcomm_stats_names);
}

/**
 * hcomm_stats_sum - add the counters of all CPUs
 * @hn: namespace
 * @out: hcomm_stats_nr() values, in the order of hcomm_stats_names
 */
void hcomm_stats_sum(struct hcomm_net *hn, u64 *out)
{
	unsigned int i;
	int cpu;

	memset(out, 0, sizeof(struct hcomm_stats));
	for_each_possible_cpu(cpu) {
		const u64 *s = (const u64 *)per_cpu_ptr(hn->stats, cpu);

		for (i = 0; i < hcomm_stats_nr(); i++)
			out[i] += READ_ONCE(s[i]);
	}
}

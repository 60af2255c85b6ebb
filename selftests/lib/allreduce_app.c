// SPDX-License-Identifier: GPL-2.0
/*
 * An application as a training job is one: all ranks sum a buffer, again and
 * again, and every element of every result is checked. Started by hcomm_run.
 *
 * A line per interval and rank, and one at the end, key=value:
 *   progress rank=0 t=3.0 rounds=120 round=119 ms=8.1 mbs=1010.2 stall_ms=9.0 wrong=0
 *   total rank=0 t=60.0 rounds=7200 mbs=1004.9 median_ms=8.0 stall_ms=212.4 wrong=0
 * t: seconds since the start; ms: the last all_reduce; mbs: MB of the buffer
 * per second spent in all_reduce, over the interval or all; stall_ms: the
 * longest that a round has waited for others, in the interval or in all but
 * the first, which warms up. Status 0: all results were right.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <hcomm/hcomm.h>

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Small whole numbers: their sums are exact in a float, in any order. */
static inline float value(uint32_t i, uint32_t rank, uint32_t round)
{
	return (float)(((i * 2654435761u) >> 20) + rank * 3 + round % 1000);
}

static void fill(float *buf, uint32_t count, uint32_t rank, uint32_t round)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		buf[i] = value(i, rank, round);
}

static uint64_t wrong_elements(const float *buf, uint32_t count, uint32_t n, uint32_t round)
{
	float ranks = (float)(3 * n * (n - 1) / 2);
	uint32_t bad = 0, i;

	for (i = 0; i < count; i++)
		bad += buf[i] != (float)n * value(i, 0, round) + ranks;
	return bad;
}

static int compare(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

static const char usage[] =
"Usage: allreduce_app [OPTION]...\n"
"  -t SECONDS   run so long (default 10; 0: for ever)\n"
"  -n ROUNDS    or so many rounds\n"
"  -s BYTES     size of the buffer (default 8 MiB; suffixes K, M)\n"
"  -i SECONDS   a progress line so often (default 1; 0: none)\n"
"  -p SECONDS   pause between rounds\n"
"  -q           progress lines only on rank 0\n";

int main(int argc, char **argv)
{
	double seconds = 10, interval = 1, pause = 0, begin, last, spent = 0, part = 0;
	double longest = 0, part_longest = 0, total = 0;
	unsigned long rounds = 0, round, part_rounds = 0, size = 8 << 20, times_len = 0;
	uint64_t wrong = 0;
	struct sigaction sa = { .sa_handler = on_signal };
	struct hcomm_comm *comm;
	float *send, *recv, *times = NULL;
	bool quiet = false;
	uint32_t rank, n, count;
	int opt, ret;
	char *end;

	while ((opt = getopt(argc, argv, "t:n:s:i:p:qh")) != -1) {
		switch (opt) {
		case 't':
			seconds = strtod(optarg, NULL);
			break;
		case 'n':
			rounds = strtoul(optarg, NULL, 10);
			seconds = 0;
			break;
		case 's':
			size = strtoul(optarg, &end, 10);
			size *= *end == 'M' ? 1 << 20 : *end == 'K' ? 1 << 10 : 1;
			break;
		case 'i':
			interval = strtod(optarg, NULL);
			break;
		case 'p':
			pause = strtod(optarg, NULL);
			break;
		case 'q':
			quiet = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			fputs(usage, stderr);
			return 1;
		}
	}
	if (size < 4 || size > 1u << 30) {
		fprintf(stderr, "allreduce_app: the size must be 4 bytes to 1 GiB\n");
		return 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	ret = hcomm_comm_create_env(&comm);
	if (ret) {
		fprintf(stderr, "allreduce_app: %s: %s\n", hcomm_strerror(ret),
			hcomm_comm_error_text(NULL));
		return 1;
	}
	rank = (uint32_t)hcomm_comm_rank(comm);
	n = (uint32_t)hcomm_comm_size(comm);
	count = (uint32_t)(size / sizeof(*send));
	send = malloc(count * sizeof(*send));
	recv = malloc(count * sizeof(*recv));
	if (!send || !recv) {
		fprintf(stderr, "allreduce_app: no memory\n");
		return 1;
	}
	begin = last = now();
	for (round = 0; !rounds || round < rounds; round++) {
		int32_t go = !stop && (!seconds || now() - begin < seconds);
		double t = now(), waited, ms;

		/* rank 0's clock tells when it is enough */
		ret = hcomm_broadcast(comm, &go, 1, HCOMM_I32, 0);
		if (ret || !go)
			break;
		waited = (now() - t) * 1e3;
		fill(send, count, rank, (uint32_t)round);
		t = now();
		ret = hcomm_all_reduce(comm, send, recv, count, HCOMM_F32, HCOMM_SUM);
		ms = (now() - t) * 1e3;
		if (ret)
			break;
		wrong += wrong_elements(recv, count, n, (uint32_t)round);
		if (round == times_len) {
			float *more = realloc(times, (2 * times_len + 1024) * sizeof(*times));

			if (more) {
				times = more;
				times_len = 2 * times_len + 1024;
			}
		}
		if (round < times_len)
			times[round] = (float)ms;
		spent += ms;
		part += ms;
		part_rounds++;
		waited += ms;
		if (waited > part_longest)
			part_longest = waited;
		if (waited > longest && round)
			longest = waited;
		if (interval > 0 && now() - last >= interval) {
			last = now();
			if (!quiet || !rank)
				printf("progress rank=%u t=%.1f rounds=%lu round=%lu ms=%.1f"
				       " mbs=%.1f stall_ms=%.1f wrong=%llu\n",
				       rank, last - begin, round + 1, round, ms,
				       (double)size * (double)part_rounds / part / 1e3,
				       part_longest, (unsigned long long)wrong);
			part = part_longest = 0;
			part_rounds = 0;
		}
		if (pause > 0) {
			struct timespec ts = { (time_t)pause, (long)((pause - (double)(time_t)pause) * 1e9) };

			nanosleep(&ts, NULL);
		}
	}
	total = now() - begin;
	if (ret)
		fprintf(stderr, "allreduce_app: rank %u: %s: %s\n", rank, hcomm_strerror(ret),
			hcomm_comm_error_text(comm));
	if (times && round && round <= times_len)
		qsort(times, round, sizeof(*times), compare);
	printf("total rank=%u t=%.1f rounds=%lu mbs=%.1f median_ms=%.2f stall_ms=%.1f wrong=%llu\n",
	       rank, total, round, spent > 0 ? (double)size * (double)round / spent / 1e3 : 0,
	       times && round && round <= times_len ? (double)times[round / 2] : 0, longest,
	       (unsigned long long)wrong);
	hcomm_comm_destroy(comm);
	free(times);
	free(send);
	free(recv);
	return ret || wrong ? 1 : 0;
}

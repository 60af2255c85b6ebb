// SPDX-License-Identifier: GPL-2.0
#include "perf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

volatile sig_atomic_t stopped;

int fail(const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fputs("Error: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputs(".\n", stderr);
	return EXIT_FAILED;
}

void *allocate(size_t size)
{
	void *p = calloc(1, size);

	if (!p) {
		fputs("Out of memory.\n", stderr);
		exit(EXIT_FAILED);
	}
	return p;
}

double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void samples_add(struct samples *s, double seconds)
{
	if (s->nr >= MAX_SAMPLES)
		return;
	if (s->nr == s->room) {
		s->room = s->room ? 2 * s->room : 1024;
		s->us = realloc(s->us, s->room * sizeof(*s->us));
		if (!s->us) {
			fputs("Out of memory.\n", stderr);
			exit(EXIT_FAILED);
		}
	}
	s->us[s->nr++] = (float)(seconds * 1e6);
}

static int compare_float(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

static int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts the samples from @first on. */
double samples_quantile(struct samples *s, uint32_t first, double q)
{
	uint32_t nr = s->nr - first;

	if (!nr)
		return 0;
	qsort(s->us + first, nr, sizeof(*s->us), compare_float);
	return (double)s->us[first + (uint32_t)(q * (nr - 1) + 0.5)];
}

/* Sorts. */
double median(double *v, uint32_t nr)
{
	if (!nr)
		return 0;
	qsort(v, nr, sizeof(*v), compare_double);
	return nr % 2 ? v[nr / 2] : (v[nr / 2 - 1] + v[nr / 2]) / 2;
}

/* What was not idle, with the kernel's own work for the network. */
static double machine_busy(void)
{
	unsigned long long v[8] = { 0 };
	FILE *f = fopen("/proc/stat", "re");
	double busy = 0;
	int i, n;

	if (!f)
		return 0;
	n = fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &v[0],
		   &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]);
	fclose(f);
	/* 3 and 4 are idle, 7 was stolen by others. */
	for (i = 0; i < n && i < 7; i++)
		if (i != 3 && i != 4)
			busy += (double)v[i];
	return busy / (double)sysconf(_SC_CLK_TCK);
}

static double seconds_of(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

struct cpu cpu_now(void)
{
	struct cpu c = { 0 };
	struct rusage ru;

	if (!getrusage(RUSAGE_SELF, &ru))
		c.process = seconds_of(&ru.ru_utime) + seconds_of(&ru.ru_stime);
	c.machine = machine_busy();
	return c;
}

struct cpu cpu_since(const struct cpu *then)
{
	struct cpu c = cpu_now();

	c.process -= then->process;
	c.machine -= then->machine;
	return c;
}

/* Tells two machines apart: their CPU time is added, that of one is not. */
uint64_t machine_id(void)
{
	uint64_t hash = 0xcbf29ce484222325ULL;
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
	int c;

	if (!f)
		return 0;
	while ((c = getc(f)) != EOF)
		hash = (hash ^ (uint64_t)c) * 0x100000001b3ULL;
	fclose(f);
	return hash;
}

static void on_alarm(int sig)
{
	(void)sig;
	stopped = 1;
}

static void timer(uint32_t ms)
{
	struct itimerval t = {
		.it_value = { ms / 1000, ms % 1000 * 1000 },
	};
	/* Without SA_RESTART: a call that waits ends, too. */
	struct sigaction sa = { .sa_handler = on_alarm };

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &t, NULL);
}

void stop_after(uint32_t ms)
{
	stopped = !ms;
	if (ms)
		timer(ms);
}

void stop_never(void)
{
	timer(0);
	stopped = 0;
}

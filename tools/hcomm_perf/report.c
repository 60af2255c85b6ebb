// SPDX-License-Identifier: GPL-2.0
/* What comes out, as text or as JSON. */
#include "perf.h"

#include <stdlib.h>

#include "out.h"

static const char *const test_names[] = { "lat", "bw", "allreduce" };

/* All runs of a side put together. */
struct summary {
	double median, p99, best, worst;
	double messages, lost, cpu_process, cpu_machine;
};

static const char *unit(const struct options *o)
{
	return o->test == TEST_BW ? "MB/s" : "us";
}

static const char *name(const struct options *o, enum kind kind)
{
	return o->test == TEST_ALLREDUCE && is_hcomm(kind) ? "hcomm" :
	       kind_names[kind];
}

static struct summary summarize(const struct options *o, struct side *s)
{
	double *v = allocate(o->pairs * sizeof(*v)), bytes = 0;
	struct summary r = { 0 };
	uint32_t i;

	for (i = 0; i < o->pairs; i++) {
		v[i] = s->run[i].value;
		bytes += s->run[i].bytes;
		r.messages += s->run[i].messages;
		r.lost += s->run[i].lost;
		r.cpu_process += s->run[i].cpu.process;
		r.cpu_machine += s->run[i].cpu.machine;
	}
	r.median = median(v, o->pairs);
	if (o->test == TEST_BW) {
		/* Few values: all but the worst hundredth are above it. */
		r.p99 = v[(uint32_t)((o->pairs - 1) * 0.01)];
		r.best = v[o->pairs - 1];
		r.worst = v[0];
	} else {
		r.p99 = samples_quantile(&s->all, 0, 0.99);
		r.best = samples_quantile(&s->all, 0, 0);
		r.worst = samples_quantile(&s->all, 0, 1);
	}
	if (bytes > 0) {
		r.cpu_process /= bytes / 1e9;
		r.cpu_machine /= bytes / 1e9;
	}
	free(v);
	return r;
}

static void print_head(const struct options *o, const struct side *a,
		       const struct side *b)
{
	if (o->test == TEST_LAT)
		say("Round trips of %u bytes", a->size);
	else if (o->test == TEST_BW)
		say("Messages of %u bytes one way", a->size);
	else
		say("all_reduce of %u bytes, float, sum", a->size);
	say(" over %s", name(o, a->kind));
	if (b)
		say(" and %s in turn", name(o, b->kind));
	if (b && b->size != a->size)
		say(" (%u bytes there)", b->size);
	say("\n");
}

static void print_pairs(const struct options *o, const struct side *a,
			const struct side *b)
{
	uint32_t i;

	say("%6s %12s", "run", name(o, a->kind));
	if (b)
		say(" %12s %8s", name(o, b->kind), "ratio");
	say("\n");
	for (i = 0; i < o->pairs; i++) {
		say("%6u %12.2f", i + 1, a->run[i].value);
		if (b)
			say(" %12.2f %8.3f", b->run[i].value,
			    a->run[i].value / b->run[i].value);
		say("\n");
	}
}

static void print_side(const struct options *o, const struct side *s,
		       const struct summary *r)
{
	say("%s: median %.2f %s, p99 %.2f, best %.2f, worst %.2f; CPU ",
	    name(o, s->kind), r->median, unit(o), r->p99, r->best, r->worst);
	/* A GB of small messages is nothing that anybody can imagine. */
	if (o->test == TEST_LAT)
		say("%.1f us each", r->cpu_machine * s->size / 500);
	else
		say("%.3f s/GB, of this in the processes %.3f",
		    r->cpu_machine, r->cpu_process);
	if (s->kind == KIND_UDP)
		say("; %.0f of %.0f lost", r->lost, r->messages);
	say("\n");
}

static void json_side(const char *prefix, const struct summary *r,
		      const struct side *s)
{
	static const char *const keys[][9] = {
		{ "median", "p99", "best", "worst", "cpu_s_per_gb",
		  "process_cpu_s_per_gb", "messages", "lost", "size" },
		{ "peer_median", "peer_p99", "peer_best", "peer_worst",
		  "peer_cpu_s_per_gb", "peer_process_cpu_s_per_gb",
		  "peer_messages", "peer_lost", "peer_size" },
	};
	const char *const *key = keys[prefix != NULL];

	json_f64(key[0], r->median);
	json_f64(key[1], r->p99);
	json_f64(key[2], r->best);
	json_f64(key[3], r->worst);
	json_f64(key[4], r->cpu_machine);
	json_f64(key[5], r->cpu_process);
	json_u64(key[6], (uint64_t)r->messages);
	json_u64(key[7], r->lost > 0 ? (uint64_t)r->lost : 0);
	json_u64(key[8], s->size);
}

static void json_runs(const char *key, const struct options *o,
		      const struct side *s)
{
	uint32_t i;

	json_begin(key, '[');
	for (i = 0; i < o->pairs; i++)
		json_f64(NULL, s->run[i].value);
	json_end(']');
}

/* @b: NULL if there was nothing beside it */
void report(const struct options *o, struct side *a, struct side *b)
{
	struct summary ra, rb = { 0 };

	/* Before the samples are sorted, which the runs do not mind. */
	print_head(o, a, b);
	print_pairs(o, a, b);
	ra = summarize(o, a);
	if (b)
		rb = summarize(o, b);
	print_side(o, a, &ra);
	if (b)
		print_side(o, b, &rb);
	if (b)
		say("ratio %.3f (%s is better)\n", ra.median / rb.median,
		    o->test == TEST_BW ? "more" : "less");

	json_begin(NULL, '{');
	json_str("test", test_names[o->test]);
	json_str("type", name(o, a->kind));
	json_str("unit", unit(o));
	json_u64("pairs", o->pairs);
	json_side(NULL, &ra, a);
	json_runs("runs", o, a);
	if (b) {
		json_str("vs", name(o, b->kind));
		json_side("peer", &rb, b);
		json_runs("peer_runs", o, b);
		json_f64("ratio", ra.median / rb.median);
	}
	json_end('}');
	json_line();
}

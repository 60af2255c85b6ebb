// SPDX-License-Identifier: GPL-2.0
#include "stat.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *tree;

/* twalk() has no argument of its own. */
static counter_fn walk_fn;
static void *walk_arg;

static int compare(const void *a, const void *b)
{
	const struct counter *x = a, *y = b;
	int diff = strcmp(x->object, y->object);

	return diff ? diff : strcmp(x->name, y->name);
}

static void no_memory(void)
{
	fputs("Out of memory.\n", stderr);
	exit(2);
}

struct counter *counter_get(const char *object, const char *name)
{
	struct counter key = { .object = (char *)object, .name = (char *)name };
	struct counter *c, **found;

	found = tfind(&key, &tree, compare);
	if (found)
		return *found;
	c = calloc(1, sizeof(*c));
	if (!c)
		no_memory();
	c->object = strdup(object);
	c->name = strdup(name);
	if (!c->object || !c->name || !tsearch(c, &tree, compare))
		no_memory();
	return c;
}

static void visit(const void *node, VISIT which, int level)
{
	(void)level;
	if (which == postorder || which == leaf)
		walk_fn(*(struct counter *const *)node, walk_arg);
}

/* In order of object and name. */
void counters_all(counter_fn fn, void *arg)
{
	walk_fn = fn;
	walk_arg = arg;
	twalk(tree, visit);
}

static void next(struct counter *c, void *arg)
{
	(void)arg;
	if (c->seen) {
		c->before = c->value;
		c->known = true;
	}
	c->seen = false;
}

void counters_next(void)
{
	counters_all(next, NULL);
}

static void forget(struct counter *c, void *arg)
{
	(void)arg;
	c->before = 0;
	c->known = false;
}

void counters_forget(void)
{
	counters_all(forget, NULL);
}

/* A counter that is smaller than before began again, with its object. */
uint64_t counter_delta(const struct counter *c)
{
	return c->known && c->value >= c->before ? c->value - c->before :
						   c->value;
}

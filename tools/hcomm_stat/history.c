// SPDX-License-Identifier: GPL-2.0
/* What the counters were when the user looked last. */
#include "stat.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_LINE	"#hcomm_stat 1\n"

static char path[PATH_MAX];
static FILE *file;

static void find_path(void)
{
	const char *env = getenv("HCOMM_STAT_HISTORY");
	const char *dir = getenv("XDG_RUNTIME_DIR");

	if (env && *env)
		snprintf(path, sizeof(path), "%s", env);
	else if (dir && *dir == '/')
		snprintf(path, sizeof(path), "%s/hcomm_stat", dir);
	else
		snprintf(path, sizeof(path), "/tmp/.hcomm_stat.u%u",
			 geteuid());
}

static int complain(const char *what)
{
	fprintf(stderr, "History file %s: %s\n", path, what);
	return -1;
}

/* Others can write to /tmp: nothing but a plain file of the user is taken. */
int history_open(void)
{
	struct stat st;
	int fd;

	find_path();
	fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK,
		  0600);
	if (fd < 0)
		return complain(strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) ||
	    st.st_uid != geteuid() || st.st_nlink != 1) {
		close(fd);
		return complain("not a plain file of this user");
	}
	if (flock(fd, LOCK_EX)) {
		close(fd);
		return complain(strerror(errno));
	}
	file = fdopen(fd, "r+");
	if (!file) {
		close(fd);
		return complain(strerror(errno));
	}
	return 0;
}

/* A damaged file counts as none. */
void history_read(void)
{
	char line[512], object[256], name[128];
	struct counter *c;
	uint64_t value;

	if (!fgets(line, sizeof(line), file) || strcmp(line, FIRST_LINE))
		return;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%255s %127s %" SCNu64, object, name,
			   &value) != 3)
			return;
		c = counter_get(object, name);
		c->before = value;
		c->known = true;
	}
}

static void put(struct counter *c, void *arg)
{
	(void)arg;
	if (c->seen || c->known)
		fprintf(file, "%s %s %" PRIu64 "\n", c->object, c->name,
			c->seen ? c->value : c->before);
}

int history_write(void)
{
	rewind(file);
	if (ftruncate(fileno(file), 0))
		return complain(strerror(errno));
	fputs(FIRST_LINE, file);
	counters_all(put, NULL);
	if (fflush(file) || ferror(file))
		return complain(strerror(errno));
	return 0;
}

void history_close(void)
{
	if (file)
		fclose(file);
	file = NULL;
}

// SPDX-License-Identifier: GPL-2.0
/* What hcomm_run is tested with: says what it sees, then does what it is told. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *env(const char *name)
{
	const char *s = getenv(name);

	return s ? s : "(none)";
}

int main(int argc, char **argv)
{
	int rank = atoi(env("HCOMM_RANK")), i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "env")) {
			printf("rank=%s size=%s addrs=%s\n", env("HCOMM_RANK"), env("HCOMM_SIZE"),
			       env("HCOMM_ADDRS"));
		} else if (!strcmp(argv[i], "fds")) {
			DIR *d = opendir("/proc/self/fd");
			int n = 0;

			while (d && readdir(d))
				n++;
			/* ., .., 0, 1, 2 and the folder itself */
			printf("fds=%d\n", n - 3);
		} else if (!strncmp(argv[i], "exit=", 5)) {
			/* exit=RANK:STATUS */
			if (rank == atoi(argv[i] + 5))
				return atoi(strchr(argv[i], ':') + 1);
		} else if (!strncmp(argv[i], "kill=", 5)) {
			if (rank == atoi(argv[i] + 5))
				raise(atoi(strchr(argv[i], ':') + 1));
		} else if (!strcmp(argv[i], "sleep")) {
			sleep(60);
		} else if (!strcmp(argv[i], "stubborn")) {
			signal(SIGTERM, SIG_IGN);
			signal(SIGINT, SIG_IGN);
			sleep(60);
		} else if (!strcmp(argv[i], "lines")) {
			int k;

			for (k = 0; k < 1000; k++)
				printf("line %d of rank %d\n", k, rank);
			printf("no end");
		} else {
			printf("arg=%s\n", argv[i]);
		}
	}
	return 0;
}

/*
 * fake_server stdio | http [TOKEN_FILE]: the real transports and protocol over the tables of the fixture, so that peers can call
 * what takes long, tells its progress or changes. Ends at the end of its input. The address of HTTP is on stderr.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mcp/http/http_link.h"
#include "mcp/stdio_link.h"

int main(int argc, char **argv)
{
	struct mcp_http_cfg http_cfg = { .token_file = argc > 2 ? argv[2] : NULL, .timeout_s = 2 };
	struct mcp_stdio_fds fds = { .in = STDIN_FILENO, .out = STDOUT_FILENO, .stop = -1 };
	struct mcp_server *s = NULL;
	struct mcp_http *h = NULL;
	struct mcp_cfg cfg = { 0 };
	struct diag d = { 0 };
	int err = mcp_server_new(&cfg, &d, &s);
	char byte;

	signal(SIGPIPE, SIG_IGN);
	if (!err && argc > 1 && strcmp(argv[1], "http") == 0) {
		err = mcp_http_open(&http_cfg, &d, &h);
		if (!err)
			err = mcp_http_start(h, s, &d);
		if (!err) {
			fprintf(stderr, "listening on %s\n", mcp_http_url(h));
			while (read(STDIN_FILENO, &byte, 1) > 0)
				;
		}
		mcp_http_close(h);
	} else if (!err) {
		err = mcp_stdio_run(s, &fds, &d);
	}
	mcp_server_free(s);
	if (err)
		fprintf(stderr, "%s\n", d.what);
	return err != 0;
}

#include "stats_server.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct server {
	int fd;
	const struct stats_source *source;
};

struct client {
	int fd;
	const struct stats_source *source;
};

static json_t *answer_to(const struct stats_source *source, const json_t *request)
{
	const char *name = json_string_value(json_object_get(request, "req"));
	const char *target = json_string_value(
		json_object_get(json_object_get(request, "args"), "target"));
	json_t *resp = NULL;

	if (name && strcmp(name, "stats_meta") == 0)
		resp = source->meta(source->ctx);
	else if (name && strcmp(name, "stats") == 0 && (!target || strcmp(target, "top") == 0))
		resp = source->stats(source->ctx);
	if (resp)
		return json_pack("{s:i,s:{s:o}}", "errno", 0, "args", "resp", resp);
	return json_pack("{s:i,s:{s:s}}", "errno", EINVAL, "args", "resp",
	                 name ? "unknown request or target" : "no request");
}

static void *serve(void *ctx)
{
	struct client *c = ctx;
	FILE *in = fdopen(c->fd, "r+");
	char *line = NULL;
	size_t size = 0;

	while (in && getline(&line, &size, in) > 0) {
		json_t *request = json_loads(line, 0, NULL);
		json_t *answer = answer_to(c->source, request);

		(void)json_dumpf(answer, in, JSON_COMPACT);
		(void)fputc('\n', in);
		(void)fflush(in);
		json_decref(answer);
		json_decref(request);
	}
	free(line);
	if (in)
		(void)fclose(in);
	free(c);
	return NULL;
}

static void *accept_all(void *ctx)
{
	struct server *s = ctx;
	pthread_t thread;

	for (;;) {
		struct client *c = malloc(sizeof(*c));

		if (!c)
			return NULL;
		*c = (struct client){ .fd = accept(s->fd, NULL, NULL), .source = s->source };
		if (c->fd >= 0 && pthread_create(&thread, NULL, serve, c) == 0)
			pthread_detach(thread);
		else
			free(c);
	}
}

int stats_server_start(const char *path, const struct stats_source *source)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct server *s = malloc(sizeof(*s));
	pthread_t thread;

	if (!s)
		return -ENOMEM;
	*s = (struct server){ .fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0),
		              .source = source };
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (s->fd < 0 || bind(s->fd, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(s->fd, 16) || pthread_create(&thread, NULL, accept_all, s)) {
		free(s);
		return -errno;
	}
	pthread_detach(thread);
	return 0;
}

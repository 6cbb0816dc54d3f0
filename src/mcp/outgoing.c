#include "mcp/outgoing.h"

#include <errno.h>
#include <stdlib.h>

int outgoing_begin(struct outgoing *o)
{
	*o = (struct outgoing){ 0 };
	o->file = open_memstream(&o->text, &o->len);
	if (!o->file)
		return -ENOMEM;
	jw_init(&o->w, o->file, false);
	return 0;
}

int outgoing_end(struct outgoing *o)
{
	int err = jw_finish(&o->w);

	if (fclose(o->file) != 0 && !err)
		err = -ENOMEM;
	o->file = NULL;
	if (!err && o->len && o->text[o->len - 1] == '\n')
		o->text[--o->len] = '\0';
	return err;
}

int outgoing_end_text(struct outgoing *o)
{
	int err = ferror(o->file) ? -ENOMEM : 0;

	if (fclose(o->file) != 0)
		err = -ENOMEM;
	o->file = NULL;
	return err;
}

void outgoing_done(struct outgoing *o)
{
	if (o->file)
		fclose(o->file);
	free(o->text);
	*o = (struct outgoing){ 0 };
}

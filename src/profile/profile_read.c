#include "profile/profile_read.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "profile/profile_read_priv.h"

#define FILE_CAP   ((size_t)512 << 20)
#define NAME_BYTES 200

int profile_read_failed(const struct profile_reader *r, int err)
{
	if (err == -ENOMEM)
		return diag_set(r->d, err, NULL, "no memory for the profile '%s'", r->name);
	return diag_set(r->d, err, "profile a shorter time, or fewer processes",
	                "'%s' holds more than a profile can", r->name);
}

/* An object, not a process whose name begins with a brace. */
static bool is_json(const char *text)
{
	text += strspn(text, " \t\r\n");
	if (*text != '{')
		return false;
	text += 1 + strspn(text + 1, " \t\r\n");
	return *text == '"' || *text == '}';
}

int profile_read_text(const char *text, const char *name, struct diag *d, struct profile **out)
{
	SCOPED(scoped_profile) struct profile *p = NULL;
	char shown[NAME_BYTES];
	struct profile_reader r = { .d = d };
	int err;

	r.name = text_printable(shown, sizeof(shown), name, strlen(name));
	err = profile_new(&(struct profile_facts){ 0 }, &p);
	if (err)
		return profile_read_failed(&r, err);
	r.p = p;
	err = is_json(text) ? profile_read_json(&r, text) : profile_read_folded(&r, text);
	if (err)
		return err;
	if (profile_count(p) == 0)
		return diag_set(d, -ENODATA, PROFILE_READ_HINT, "'%s' holds no stacks", r.name);
	*out = TAKE_PTR(p);
	return 0;
}

int profile_read_file(const char *path, struct diag *d, struct profile **out)
{
	SCOPED(scoped_free) char *text = NULL;
	char shown[NAME_BYTES];
	int err = text_read_file(path, FILE_CAP, &text);

	text_printable(shown, sizeof(shown), path, strlen(path));
	if (err == -EFBIG)
		return diag_set(d, err, PROFILE_READ_HINT, "'%s' is larger than any profile",
		                shown);
	if (err)
		return diag_set(d, err, "check the path and its permissions",
		                "cannot read the profile '%s'", shown);
	return profile_read_text(text, path, d, out);
}

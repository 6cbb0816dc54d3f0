#include "../unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/rights/caps.h"

static void own_capabilities_match_proc(void **state)
{
	unsigned long long effective = 0, permitted = 0;
	struct caps c;
	char line[256];
	FILE *f = fopen("/proc/self/status", "re");

	(void)state;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		sscanf(line, "CapEff: %llx", &effective);
		sscanf(line, "CapPrm: %llx", &permitted);
	}
	fclose(f);
	expect_eq(caps_get(&c), 0);
	expect_eq(c.effective, effective);
	expect_eq(c.permitted, permitted);
}

static void admin_stands_for_bpf_and_perfmon_only(void **state)
{
	struct caps admin = { .effective = CAPS_BIT(CAP_SYS_ADMIN) };
	struct caps none = { .permitted = UINT64_MAX };

	(void)state;
	assert_true(caps_has(&admin, CAP_BPF));
	assert_true(caps_has(&admin, CAP_PERFMON));
	assert_false(caps_has(&admin, CAP_SYS_PTRACE));
	expect_eq(caps_missing(&admin, CAPS_TRACE), 0);
	expect_eq(caps_missing(&none, CAPS_TRACE), CAPS_TRACE);
}

static void names_are_those_of_setcap(void **state)
{
	char buf[128], tiny[8];

	(void)state;
	assert_string_equal(caps_names(CAPS_TRACE, buf, sizeof(buf)), "cap_bpf,cap_perfmon");
	assert_string_equal(caps_names(0, buf, sizeof(buf)), "");
	assert_string_equal(caps_names(CAPS_BIT(63), buf, sizeof(buf)), "cap_63");
	assert_string_equal(caps_names(CAPS_TRACE, tiny, sizeof(tiny)), "cap_bpf");
}

static void the_setcap_line_is_ready_for_a_shell(void **state)
{
	char buf[512], small[16];

	(void)state;
	expect_eq(caps_setcap_line(CAPS_TRACE, "/usr/bin/schedscope", buf, sizeof(buf)), 0);
	assert_string_equal(buf, "f=/usr/bin/schedscope; chgrp adm \"$f\" && chmod 750 \"$f\" && "
	                         "setcap cap_bpf,cap_perfmon+ep \"$f\"");
	expect_eq(caps_setcap_line(CAPS_BIT(CAP_BPF), "/a b/it's", buf, sizeof(buf)), 0);
	assert_string_equal(buf, "f='/a b/it'\\''s'; chgrp adm \"$f\" && chmod 750 \"$f\" && "
	                         "setcap cap_bpf+ep \"$f\"");
	expect_eq(caps_setcap_line(CAPS_TRACE, NULL, buf, sizeof(buf)), 0);
	assert_true(strncmp(buf, "f=/", 3) == 0);
	assert_non_null(strstr(buf, program_invocation_short_name));
	expect_eq(caps_setcap_line(CAPS_TRACE, "/x", small, sizeof(small)), -ENAMETOOLONG);
	expect_eq(caps_setcap_line(CAPS_TRACE, "", buf, sizeof(buf)), -ENAMETOOLONG);
}

/* 0 = as it should be; in a child, because there is no way back. */
static int drop_and_check(uint64_t mask)
{
	struct caps before, after;

	if (caps_get(&before) || caps_drop_to(mask) || caps_get(&after))
		return 1;
	if (after.permitted != (before.permitted & mask))
		return 2;
	if (after.effective != (before.effective & mask))
		return 3;
	if (after.inheritable != (before.inheritable & mask))
		return 4;
	/* Asking for everything again changes nothing. */
	if (caps_drop_to(UINT64_MAX) || caps_get(&after) || after.permitted & ~mask)
		return 5;
	return 0;
}

static void check_in_child(uint64_t mask)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(drop_and_check(mask));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void the_rest_is_dropped_for_good(void **state)
{
	(void)state;
	check_in_child(CAPS_TRACE);
	check_in_child(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_capabilities_match_proc),
		cmocka_unit_test(admin_stands_for_bpf_and_perfmon_only),
		cmocka_unit_test(names_are_those_of_setcap),
		cmocka_unit_test(the_setcap_line_is_ready_for_a_shell),
		cmocka_unit_test(the_rest_is_dropped_for_good),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

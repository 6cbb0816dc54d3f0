/*
 * sys/rights/privilege — giving up rights for good, in one place for all commands.
 *
 * privilege_hide() comes first in main(): rights that a file or a set-user-id bit has lent do not apply to files that the
 * user names. privilege_drop() comes when everything is open that needs rights: the process becomes an ordinary one, and no
 * exec, file or child gives anything back. What must still be opened later is asked of sys/rights/broker.
 *
 * Credentials belong to threads: both are called while there is only one, else -EBUSY.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/attr.h"
#include "base/diag.h"

struct privilege_user {
	uid_t uid;
	gid_t gid;
};

/*
 * Who to be without rights: the user who has started us, by the real uid, or by SUDO_UID and SUDO_GID if that is root;
 * else the user nobody.
 */
void privilege_user(struct privilege_user *out);

/*
 * For a user who is not root: capabilities that override permissions of files (CAP_DAC_*, CAP_SYS_PTRACE and such) stop
 * being effective. They stay permitted, so that a broker can still use them.
 */
MUST_USE int privilege_hide(void);
/*
 * For a process that starts this program again: it is to have what is permitted here. privilege_hide() has cleared the ambient set,
 * and a file gives nothing on a file system without set-id bits, as systemd makes them for units with NoNewPrivileges. Only
 * where the rights are those of the process that started us (not AT_SECURE), so that its environment has nothing to gain.
 */
MUST_USE int privilege_hand_down(void);
/* Makes all permitted capabilities of the mask effective again, and no other; for the broker. */
MUST_USE int privilege_show(uint64_t caps);

/*
 * The uid, gid and groups of privilege_user(); no capability but those in keep; an empty bounding set; no_new_privs;
 * not to be traced or dumped by others of the same user. Checks that there is no way back. Before Linux 5.19 CAP_BPF
 * stays where the kernel wants it even for reading maps.
 */
MUST_USE int privilege_drop(uint64_t keep, struct diag *d);
/*
 * The same with nothing kept, in a mount namespace with a /proc of its own where the one that is there hides the
 * processes of other users (hidepid). Where that is not allowed, as in some containers, CAP_SYS_PTRACE stays.
 */
MUST_USE int privilege_drop_but_seeing(struct diag *d);

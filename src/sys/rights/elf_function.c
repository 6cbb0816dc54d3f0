#include "sys/rights/elf_function.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/rights/sandbox.h"

#define WAIT_MS      10000
#define MEMORY_BYTES (1ULL << 30)

struct function_answer {
	int32_t err;
	uint32_t pad_;
	uint64_t at;
};

static const struct sandbox_job job = { .name = "function" };

/* Symbols of libraries may carry a version behind an @. */
static bool is_it(const char *symbol, const char *name)
{
	size_t len = strlen(name);

	return symbol && strncmp(symbol, name, len) == 0 && (!symbol[len] || symbol[len] == '@');
}

static bool take(Elf *elf, const GElf_Sym *sym, uint64_t *out)
{
	GElf_Shdr header;
	Elf_Scn *section;

	if (GELF_ST_TYPE(sym->st_info) != STT_FUNC || sym->st_shndx == SHN_UNDEF ||
	    sym->st_shndx >= SHN_LORESERVE)
		return false;
	section = elf_getscn(elf, sym->st_shndx);
	if (!section || !gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS ||
	    sym->st_value < header.sh_addr || sym->st_value - header.sh_addr >= header.sh_size)
		return false;
	*out = sym->st_value - header.sh_addr + header.sh_offset;
	return true;
}

static bool find_in(Elf *elf, Elf_Scn *section, const char *name, uint64_t *out)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Shdr header;
	GElf_Sym sym;

	if (!data || !gelf_getshdr(section, &header))
		return false;
	for (int i = 0; gelf_getsym(data, i, &sym); i++)
		if (is_it(elf_strptr(elf, header.sh_link, sym.st_name), name) &&
		    take(elf, &sym, out))
			return true;
	return false;
}

static int find(int file, const char *name, uint64_t *out)
{
	Elf *elf = elf_version(EV_CURRENT) == EV_NONE ? NULL : elf_begin(file, ELF_C_READ, NULL);
	Elf_Scn *section = NULL;
	bool is_found = false;
	GElf_Ehdr header;
	GElf_Shdr part;

	if (elf && gelf_getehdr(elf, &header) &&
	    (header.e_type == ET_EXEC || header.e_type == ET_DYN))
		while (!is_found && (section = elf_nextscn(elf, section)))
			if (gelf_getshdr(section, &part) &&
			    (part.sh_type == SHT_DYNSYM || part.sh_type == SHT_SYMTAB))
				is_found = find_in(elf, section, name, out);
	elf_end(elf);
	return is_found ? 0 : -ENOENT;
}

static _Noreturn void search(int file, const char *name, int to)
{
	struct function_answer answer = { 0 };
	bool has_seccomp;

	answer.err = sandbox_enter(&job, MEMORY_BYTES, &has_seccomp);
	if (!answer.err)
		answer.err = find(file, name, &answer.at);
	_exit(write(to, &answer, sizeof(answer)) != (ssize_t)sizeof(answer));
}

static int read_answer(int from, struct function_answer *out)
{
	struct pollfd ready = { .fd = from, .events = POLLIN };
	int nr;

	do
		nr = poll(&ready, 1, WAIT_MS);
	while (nr < 0 && errno == EINTR);
	if (nr <= 0)
		return nr ? -errno : -ETIMEDOUT;
	return read(from, out, sizeof(*out)) == (ssize_t)sizeof(*out) ? 0 : -EIO;
}

int elf_function_find(int file, const char *name, uint64_t *out)
{
	struct function_answer answer = { 0 };
	int pair[2], err;
	pid_t pid;

	if (pipe2(pair, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (pid == 0)
		search(file, name, pair[1]);
	err = pid < 0 ? -errno : 0;
	close(pair[1]);
	if (!err) {
		err = read_answer(pair[0], &answer);
		(void)kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	close(pair[0]);
	if (err || answer.err)
		return err ? err : answer.err;
	*out = answer.at;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * anydnn install ARCHIVE: checksum, unpack, identify, link, switch. Until the commit nothing of it can be seen. */
#include "act.h"
#include "build.h"
#include "facts.h"
#include "fs.h"
#include "owner.h"
#include "tree.h"
#include "unpack.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct install {
    act a;
    const char *archive, *base;      /* as given; its base name */
    const char *sum_word;            /* --sha256: digits or a file */
    bool no_use, any_machine, verify;
    int fd;
    uint64_t size;
    int64_t mtime;
    char sum[DIGEST_TEXT];
    manifest m;
    char *fresh;                     /* ".new-PID" in the store */
    char *host;                      /* the same as the host sees it */
    char distribution[256];
} install;

static int fault(install *in, const char *id, const char *what, const char *why, const char *fix)
{
    cli_where(cli_finding(&in->a.r, CLI_ERROR, id, what, why, fix), in->archive);
    return -1;
}

/* What is named is no file: a version or an address is not fetched. Exit code 3. */
static int say_missing(install *in, int error)
{
    bool asks = strstr(in->archive, "://") || (!strchr(in->archive, '/') && isdigit((unsigned char)in->archive[0]));
    char *what = asks ? cli_format("\"%s\" is not offered by this source: install takes an archive that lies here, and fetches nothing", in->archive)
                      : cli_format("The archive cannot be read: %s", strerror(error));
    fault(in, asks ? "not-offered" : "unreadable", what ? what : "", "Nothing was changed: what is installed stays in use.",
          asks ? "download the archive or wheel first (anydnn facts cudnn_archives VERSION lists names and checksums)" : NULL);
    free(what);
    return -1;
}

static int open_archive(install *in)
{
    struct stat st;
    in->fd = open(in->archive, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (in->fd < 0 || fstat(in->fd, &st) != 0)
        return say_missing(in, errno);
    if (!S_ISREG(st.st_mode))
        return fault(in, "unreadable", "The archive is no regular file", "Nothing was changed.", NULL);
    in->mtime = st.st_mtime > 0 ? st.st_mtime : 0;
    if (!digest_fd(in->fd, in->sum, &in->size) || lseek(in->fd, 0, SEEK_SET) != 0)
        return say_missing(in, errno);
    cJSON_AddStringToObject(in->a.r.json, "archive", in->archive);
    cJSON_AddStringToObject(in->a.r.json, "sha256", in->sum);
    return 0;
}

/* The line of a checksum file for this archive ("HEX  name"), or its only line. */
static bool sum_of_file(const install *in, const char *path, char out[DIGEST_TEXT])
{
    char *text = tree_read("", path, 1 << 20, NULL);
    size_t lines = 0;
    bool found = false;
    for (char *line = text, *next; line && *line && !found; line = next) {
        next = line + strcspn(line, "\n");
        if (*next)
            *next++ = 0;
        line[strcspn(line, "\r")] = 0;
        char sum[DIGEST_TEXT];
        if (!digest_parse(line, sum))
            continue;
        const char *name = line + DIGEST_TEXT - 1;
        name += strspn(name, " \t*");
        found = !*name || strcmp(cli_base_name(name), in->base) == 0;
        memcpy(out, sum, sizeof sum);
        lines++;
    }
    free(text);
    return found || lines == 1;
}

static int compare_sum(install *in, const char *wanted, const char *source)
{
    if (strcmp(wanted, in->sum) == 0) {
        cJSON_AddStringToObject(in->a.r.json, "checked_by", source);
        cli_say(in->a.c, "checksum: SHA-256 %.16s... is that of %s\n", in->sum, source);
        return 0;
    }
    char *what = cli_format("The SHA-256 of %s is %s; %s says %s", in->base, in->sum, source, wanted);
    fault(in, "checksum-mismatch", what ? what : "", "The file is cut off, was changed, or is another one under this name. Nothing was changed.",
          "download it again");
    free(what);
    return -1;
}

/* What was given on the command line, FILE.sha256 beside the archive, and the table of published archives. */
static int check_sum(install *in)
{
    char wanted[DIGEST_TEXT], *path = cli_format("%s.sha256", in->archive);
    struct stat st;
    bool checked = in->sum_word != NULL, beside = path && stat(path, &st) == 0 && S_ISREG(st.st_mode);
    int code = 0;
    if (in->sum_word && !digest_parse(in->sum_word, wanted)) {
        char *absolute = realpath(in->sum_word, NULL);
        if (!absolute || !sum_of_file(in, absolute, wanted))
            code = fault(in, "no-checksum", "What follows --sha256 is neither 64 hexadecimal digits nor a file with the checksum of this archive",
                         "Nothing was changed.", NULL);
        free(absolute);
    }
    if (code == 0 && in->sum_word)
        code = compare_sum(in, wanted, "the checksum given");
    if (code == 0 && !in->sum_word && beside) {
        char *absolute = realpath(path, NULL);
        checked = absolute && sum_of_file(in, absolute, wanted);
        if (checked)
            code = compare_sum(in, wanted, cli_base_name(path));
        free(absolute);
    }
    const facts_table *t = cli_facts_table(in->a.c, "cudnn_archives");
    for (size_t i = 0; code == 0 && t && i < t->rows; i++)
        if (strcmp(cli_facts_cell(t, i, "file"), in->base) == 0 && digest_parse(cli_facts_cell(t, i, "sha256"), wanted)) {
            checked = true;
            code = compare_sum(in, wanted, "the table of published archives");
        }
    if (code == 0 && !checked)
        cli_where(cli_finding(&in->a.r, CLI_NOTE, "no-checksum", "Nobody says what checksum this archive should have",
                              "It is in no table, no .sha256 file lies beside it, and none was given.", "anydnn install --sha256 HEX"), in->archive);
    free(path);
    return code;
}

static int refused(install *in, const char *why)
{
    char *what = cli_format("The archive is refused: %s", why);
    fault(in, "refused", what ? what : "", "Nothing was changed, and nothing of it was left behind.", NULL);
    free(what);
    return -1;
}

/* Unpacks (dry: only judges) and finds out what it is. */
static int unpack_archive(install *in)
{
    act *a = &in->a;
    unpack u = { .c = a->c, .archive = in->fd, .archive_size = in->size, .archive_mtime = in->mtime, .dir = -1, .m = &in->m };
    build b = { .c = a->c, .m = &in->m, .host = a->dry_run ? NULL : in->host, .archive = in->base, .any_machine = in->any_machine, .mtime = in->mtime };
    int code = 0;
    if (!a->dry_run) {
        u.dir = mkdir(in->host, 0700) == 0 ? open(in->host, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
        if (u.dir < 0)
            return store_fault(&a->r, "The archive cannot be unpacked", a->s.dir, errno);
    }
    if (unpack_run(&u) != 0)
        code = u.refused ? refused(in, u.error) : store_fault(&a->r, "The archive cannot be unpacked", u.error, u.failed);
    if (u.dir >= 0)
        close(u.dir);
    if (code == 0 && u.left_out)
        cli_say(a->c, "left out: %zu member%s of the archive, in no folder of the layout\n", u.left_out, u.left_out == 1 ? "" : "s");
    memcpy(in->distribution, u.distribution, sizeof in->distribution);
    b.distribution = in->distribution;
    if (code == 0 && a->dry_run)
        inspect_gather_archive(a->c, &a->r, in->archive, in->archive, &b.list);
    else if (code == 0)
        build_look(&b);
    if (code == 0 && (build_identify(&b) != 0 || build_complete(&b) != 0))
        code = refused(in, b.error);
    inspect_free(&b.list);
    return code;
}

static int put_manifest(install *in)
{
    char *text = manifest_text(&in->m), *path = tree_join(in->host, "manifest");
    int code = text && path ? fs_put_text(path, text, strlen(text), 0644) : -1;
    if (code != 0 || chmod(in->host, 0755) != 0)
        code = store_fault(&in->a.r, "The manifest cannot be written", in->a.s.dir, errno);
    free(path);
    free(text);
    return code;
}

static void count_change(void *user, manifest_state found, const char *path, const char *why)
{
    (void)path;
    (void)why;
    *(size_t *)user += found != MANIFEST_EXTRA;
}

/* An installed build that this archive made; NULL where there is none. changed: files of it are not what they were. */
static const char *known_build(install *in, size_t *changed)
{
    const state_words *builds = &in->a.s.now.builds;
    for (size_t i = 0; i < builds->count; i++) {
        manifest m;
        char error[300], *dir = tree_join(in->a.s.dir, builds->items[i]);
        bool same = dir && manifest_read(&m, in->a.c->root, dir, error, sizeof error) == 0 && strcmp(m.archive_sha256, in->sum) == 0;
        *changed = 0;
        if (same) {
            manifest_verify(&m, in->a.c->root, dir, true, count_change, changed);
            in->m.abi = m.abi;
        }
        if (dir)
            manifest_free(&m);
        free(dir);
        if (same)
            return builds->items[i];
    }
    return NULL;
}

/* Installed already and whole: only `use` is left to do. */
static char *use_known(install *in, const char *known)
{
    act *a = &in->a;
    char *operation = cli_format("install %s", in->base), *name = strdup(known), *done = NULL;
    if (in->no_use)
        done = cli_format("%s is installed already.", known);
    else if (operation && name && state_use(&a->next, in->m.abi, name) && act_change(a, &(change){ .operation = operation }, NULL) == 0)
        done = cli_format("%s was installed already; it is in use.", name);
    free(name);
    free(operation);
    return done;
}

/* Files were changed behind the store's back: the folder is put back as the archive has it, by one exchange. */
static char *repair_known(install *in, const char *known)
{
    act *a = &in->a;
    char *to = store_inner(&a->s, known), *done = NULL;
    int code = to && !act_extra(a, known) ? 0 : -1;
    if (code == 0 && strcmp(in->m.build, known) != 0)
        code = refused(in, "it makes another build than the one that it made before");
    else if (code == 0 && !a->dry_run && (code = put_manifest(in)) == 0 && fs_exchange(in->host, to) != 0)
        code = store_fault(&a->r, "The build cannot be put back (anydnn uninstall it first)", known, errno);
    if (code == 0)
        done = cli_format("%s was changed since it was installed; it is as the archive has it again.", known);
    free(to);
    return done;
}

static char *install_fresh(install *in)
{
    act *a = &in->a;
    const char *name = in->m.build;
    if (state_has_word(&a->s.now.builds, name)) {
        char *what = cli_format("%s is installed already, from another archive", name);
        char *fix = cli_format("anydnn uninstall %s", name);
        fault(in, "installed-already", what ? what : "", "Two archives of one version, such as a wheel and a tar.xz, make one build. Nothing was changed.", fix);
        free(fix);
        free(what);
        return NULL;
    }
    if (!a->dry_run && put_manifest(in) != 0)
        return NULL;
    char *operation = cli_format("install %s", in->base), *done = NULL;
    bool good = operation && state_add_word(&a->next.builds, name) && (in->no_use || state_use(&a->next, in->m.abi, name));
    if (!good)
        fault(in, "no-memory", "Memory is short", "Nothing was changed.", NULL);
    else if (act_change(a, &(change){ .operation = operation, .fresh = in->fresh, .build = name }, &in->m) == 0)
        done = cli_format("%s is installed%s.", name, in->no_use ? "; what was in use stays in use" : " and in use");
    free(operation);
    return done;
}

/* Parts of this version that the archive lacks. */
static void note_missing(install *in)
{
    const char *const *parts = cli_sublibraries(cli_version_parse(in->m.version));
    cJSON *where = NULL;
    for (size_t i = 0; parts && parts[i]; i++) {
        char name[80];
        bool found = false;
        cli_library_name(parts[i], in->m.abi, strncmp(in->m.platform, "windows", 7) == 0, name, sizeof name);
        for (size_t k = 0; k < in->m.count && !found; k++)
            found = strcmp(cli_base_name(in->m.entries[k].path), name) == 0;
        if (!found && !where)
            where = cli_finding(&in->a.r, CLI_NOTE, "incomplete", "The archive has not all libraries of this version",
                                "What needs the missing ones fails when it is called.", NULL);
        if (!found)
            cli_where(where, name);
    }
}

/* Rows of the table of known issues about installing this version (a wheel's only for a wheel), and the package that sweeps /usr. */
static void warn(install *in)
{
    const facts_table *t = cli_facts_table(in->a.c, "known-issues");
    char three[32] = "";
    int version = cli_version_parse(in->m.version);
    cli_version_text(version, three);
    for (size_t i = 0; version && t && i < t->rows; i++) {
        const char *op = cli_facts_cell(t, i, "kind"), *condition = cli_facts_cell(t, i, "op");
        int min = cli_version_parse(cli_facts_cell(t, i, "min")), max = cli_version_parse(cli_facts_cell(t, i, "max"));
        if (strcmp(op, "install") != 0 || !min || !max || version < min || version > max || (strstr(condition, "pip wheel") && !in->distribution[0]) ||
            ((strstr(condition, "Windows") || strstr(condition, ".dll")) && strncmp(in->m.platform, "windows", 7) != 0) ||
            (strstr(cli_facts_cell(t, i, "affected"), "Linux") && strncmp(in->m.platform, "linux", 5) != 0))
            continue;
        char *what = cli_format("Known of %s (%s): %s", cli_facts_cell(t, i, "affected"), condition, cli_facts_cell(t, i, "symptom"));
        cli_where(cli_finding(&in->a.r, CLI_NOTE, cli_facts_cell(t, i, "id"), what ? what : "", cli_facts_cell(t, i, "source"),
                              cli_facts_cell(t, i, "workaround")), in->archive);
        free(what);
    }
    char *sweeper = owner_dpkg_version(in->a.c->root, "nvidia-cudnn");
    if (sweeper && (strcmp(in->a.s.prefix, "/usr") == 0 || in->a.link_into)) {
        cli_where(cli_finding(&in->a.r, CLI_WARNING, "nvidia-cudnn-package", "The package nvidia-cudnn is installed",
                              "When it is removed or configured again it deletes libcudnn* in /usr, whoever put them there.", "apt-get purge nvidia-cudnn"),
                  in->a.s.prefix);
    } else if (sweeper) {
        cli_where(cli_finding(&in->a.r, CLI_NOTE, "nvidia-cudnn-package", "The package nvidia-cudnn is installed",
                              "When it is removed it deletes libcudnn* in /usr, whoever put them there; this store is not in its way.", "apt-get purge nvidia-cudnn"),
                  in->a.s.prefix);
    }
    free(sweeper);
}

static char *act_on(install *in)
{
    act *a = &in->a;
    size_t changed = 0;
    char *done = NULL, *operation = cli_format("install %s", in->base);
    const char *known = known_build(in, &changed);
    if (known && !changed) {
        done = use_known(in, known);
    } else {
        in->fresh = cli_format(".new-%ld", (long)getpid());
        in->host = in->fresh ? store_inner(&a->s, in->fresh) : NULL;
        memcpy(in->m.archive_sha256, in->sum, sizeof in->sum);
        int code = in->host && operation ? 0 : fault(in, "no-memory", "Memory is short", "Nothing was changed.", NULL);
        if (code == 0 && !a->dry_run && store_journal(&a->s, &(change){ .operation = operation }, NULL) != 0)
            code = store_fault(&a->r, "The store cannot be changed", a->s.dir, errno);
        if (code == 0 && unpack_archive(in) == 0)
            done = known ? repair_known(in, known) : install_fresh(in);
        if (!a->dry_run && store_settle(&a->s, NULL, NULL) != 0)
            cli_where(cli_finding(&a->r, CLI_WARNING, "leftovers", strerror(errno), "Something of the attempt could not be removed.",
                                  "the next command clears it up"), a->s.dir);
    }
    free(operation);
    if (done && in->m.version) {
        note_missing(in);
        warn(in);
    }
    return done;
}

static int take_words(install *in, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *value = cli_option_value(argc, argv, &i, "--sha256");
        size_t n = strlen(argv[i]);
        int taken = 0;
        if (value) {
            if (!*value)
                return cli_usage("install", "--sha256 needs 64 hexadecimal digits or a file");
            in->sum_word = value;
        } else if (strcmp(argv[i], "--no-use") == 0) {
            in->no_use = true;
        } else if (strcmp(argv[i], "--any-machine") == 0) {
            in->any_machine = true;
        } else if (strcmp(argv[i], "--verify") == 0) {
            in->verify = true;
        } else if ((taken = act_option(&in->a, "install", argc, argv, &i)) < 0) {
            return CLI_USAGE;
        } else if (taken == 0 && in->archive && n > 7 && strcmp(argv[i] + n - 7, ".sha256") == 0) {
            in->sum_word = argv[i];
        } else if (taken == 0 && in->archive) {
            return cli_usage("install", "one archive, please: \"%s\" or \"%s\"?", in->archive, argv[i]);
        } else if (taken == 0) {
            in->archive = argv[i];
        }
    }
    if (in->verify && (*in->a.c->root || in->no_use || in->a.dry_run || in->any_machine))
        return cli_usage("install", "--verify starts what was installed: not with --root, --no-use, --any-machine and --dry-run");
    return in->archive ? CLI_GOOD : cli_usage("install", "which archive?");
}

static int run(cli *c, int argc, char **argv)
{
    install in = { .a.c = c, .fd = -1 };
    char *done = NULL;
    if (take_words(&in, argc, argv) != CLI_GOOD || !cli_facts_ready(c))
        return CLI_USAGE;
    in.base = cli_base_name(in.archive);
    bool unreadable = false;
    if (act_begin(&in.a, "install") == 0) {
        if (open_archive(&in) != 0)
            unreadable = true;
        else if (check_sum(&in) == 0)
            done = act_on(&in);
        if (done && in.verify && in.a.r.errors == 0)
            act_verify(&in.a, in.m.abi);
    }
    if (in.fd >= 0)
        close(in.fd);
    manifest_free(&in.m);
    free(in.host);
    free(in.fresh);
    int code = act_end(&in.a, done);
    return unreadable ? CLI_CANNOT_READ : code;
}

const cli_command cli_install = {
    .name = "install",
    .run = run,
    .summary = "install an archive or a wheel of cuDNN beside others, and switch to it",
    .usage = "usage: anydnn install ARCHIVE [--sha256 HEX|FILE] [--verify] [--no-use] [--any-machine] [--prefix DIR] [--link-into DIR]\n"
             "                      [--dry-run]\n\n"
             "ARCHIVE: the vendor's tar.xz, tgz or zip of 8.x and 9.x, a pip wheel, or ours; a path of this machine, with --root\n"
             "too. It is unpacked to PREFIX/opt/cudnn/BUILD, and linked into PREFIX/include and PREFIX/lib. Its name is looked up\n"
             "in the table of published checksums, and ARCHIVE.sha256 beside it is used. Nothing is fetched.\n\n"
             "  --sha256 HEX|FILE  the checksum, or a file with it; a wrong one refuses the archive\n"
             "  --verify           then `anydnn verify` on it, all three levels, as part of this report\n"
             "  --no-use           install only; what is in use stays in use\n"
             "  --any-machine      an archive for another processor or system too\n"
             "  --prefix DIR       /usr/local for root, ~/.local otherwise\n"
             "  --link-into DIR    put links into this tree too, such as /usr/local/cuda\n"
             "  --dry-run          check the archive and show the operations, change nothing\n",
};

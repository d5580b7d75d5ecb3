/* Counts what a process changes below a folder, and lets the n-th change fail or end the process: for LD_PRELOAD.
 *
 * FAULT_CONTROL names a file with `struct control`, which the tests map, too (tests/install/fault_points.py). Every
 * function below is the C library's own, which is called unless the change is the one to fail.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum action { COUNT, KILL, FAIL_ONCE, FAIL_FROM_NOW_ON };

struct control {
    int64_t stop;      /* the change that fails, from 1 on */
    int64_t count;     /* changes so far */
    int32_t action;
    int32_t error;     /* errno of a failure */
    int32_t pid;       /* the process that counts; 0: none */
    int32_t all;       /* its children count, too */
    int32_t log;       /* each change is written to the log */
    char root[1024];   /* the folder */
    char log_path[1024];
};

static struct control *control;
static __thread int inside;

__attribute__((constructor)) static void map_control(void) {
    const char *path = getenv("FAULT_CONTROL");
    int file = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR) : -1;
    if (file < 0) return;
    void *mapped = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    syscall(SYS_close, file);
    if (mapped != MAP_FAILED) control = mapped;
}

static int is_below(const char *path) {
    size_t length = strlen(control->root);
    return strncmp(path, control->root, length) == 0 && (path[length] == '/' || path[length] == 0);
}

static void path_of(int folder, const char *name, char *path) {
    char link[64];
    path[0] = 0;
    if (name && name[0] == '/') {
        snprintf(path, PATH_MAX, "%s", name);
        return;
    }
    if (folder == AT_FDCWD) snprintf(link, sizeof link, "/proc/self/cwd");
    else snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
    path[length < 0 ? 0 : length] = 0;
    if (name && length > 0) snprintf(path + length, (size_t)(PATH_MAX - length), "/%s", name);
}

/* Whether the change is to fail: errno is set then. Does not return where it ends the process. */
static int fails(const char *what, int folder, const char *name) {
    if (!control || !control->pid || inside || (!control->all && control->pid != getpid())) return 0;
    inside = 1;
    int saved = errno, failing = 0;
    char path[PATH_MAX];
    path_of(folder, name, path);
    if (is_below(path)) {
        int64_t number = __atomic_add_fetch(&control->count, 1, __ATOMIC_SEQ_CST);
        if (control->log) {
            int file = (int)syscall(SYS_openat, AT_FDCWD, control->log_path, O_WRONLY | O_APPEND | O_CREAT, 0600);
            dprintf(file, "%lld\t%s\t%s\n", (long long)number, what, path + strlen(control->root));
            syscall(SYS_close, file);
        }
        if (number == control->stop && control->action == KILL) {
            kill(control->pid, SIGKILL);
            kill(getpid(), SIGKILL);
        }
        int removes = strcmp(what, "unlink") == 0 || strcmp(what, "rmdir") == 0;
        if (number == control->stop && control->action == FAIL_ONCE) failing = 1;
        /* A full disk refuses everything but removals, until there is room again. */
        if (number >= control->stop && control->action == FAIL_FROM_NOW_ON && !removes) failing = 1;
    }
    errno = failing ? control->error : saved;
    inside = 0;
    return failing;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define AROUND(what, folder, path, call) return fails(what, folder, path) ? -1 : (call)

ssize_t write(int file, const void *data, size_t size) { AROUND("write", file, NULL, REAL(write)(file, data, size)); }
ssize_t writev(int file, const struct iovec *data, int count) {
    AROUND("write", file, NULL, REAL(writev)(file, data, count));
}
ssize_t pwrite(int file, const void *data, size_t size, off_t at) {
    AROUND("write", file, NULL, REAL(pwrite)(file, data, size, at));
}
ssize_t pwrite64(int file, const void *data, size_t size, off64_t at) {
    AROUND("write", file, NULL, REAL(pwrite64)(file, data, size, at));
}
ssize_t sendfile(int to, int from, off_t *at, size_t size) {
    ssize_t (*real)(int, int, off_t *, size_t) = dlsym(RTLD_NEXT, "sendfile");
    AROUND("write", to, NULL, real(to, from, at, size));
}
ssize_t copy_file_range(int from, off64_t *from_at, int to, off64_t *to_at, size_t size, unsigned flags) {
    AROUND("write", to, NULL, REAL(copy_file_range)(from, from_at, to, to_at, size, flags));
}
int fsync(int file) { AROUND("fsync", file, NULL, REAL(fsync)(file)); }
int fdatasync(int file) { AROUND("fsync", file, NULL, REAL(fdatasync)(file)); }
int ftruncate(int file, off_t size) { AROUND("truncate", file, NULL, REAL(ftruncate)(file, size)); }
int ftruncate64(int file, off64_t size) { AROUND("truncate", file, NULL, REAL(ftruncate64)(file, size)); }
int posix_fallocate(int file, off_t at, off_t size) {
    return fails("write", file, NULL) ? control->error : REAL(posix_fallocate)(file, at, size);
}
int posix_fallocate64(int file, off64_t at, off64_t size) {
    return fails("write", file, NULL) ? control->error : REAL(posix_fallocate64)(file, at, size);
}
int rename(const char *from, const char *to) { AROUND("rename", AT_FDCWD, to, REAL(rename)(from, to)); }
int renameat(int a, const char *from, int b, const char *to) {
    AROUND("rename", b, to, REAL(renameat)(a, from, b, to));
}
int renameat2(int a, const char *from, int b, const char *to, unsigned flags) {
    AROUND("rename", b, to, REAL(renameat2)(a, from, b, to, flags));
}
int unlink(const char *path) { AROUND("unlink", AT_FDCWD, path, REAL(unlink)(path)); }
int unlinkat(int folder, const char *path, int flags) {
    AROUND(flags & AT_REMOVEDIR ? "rmdir" : "unlink", folder, path, REAL(unlinkat)(folder, path, flags));
}
int rmdir(const char *path) { AROUND("rmdir", AT_FDCWD, path, REAL(rmdir)(path)); }
int mkdir(const char *path, mode_t mode) { AROUND("mkdir", AT_FDCWD, path, REAL(mkdir)(path, mode)); }
int mkdirat(int folder, const char *path, mode_t mode) {
    AROUND("mkdir", folder, path, REAL(mkdirat)(folder, path, mode));
}
int symlink(const char *target, const char *path) { AROUND("link", AT_FDCWD, path, REAL(symlink)(target, path)); }
int symlinkat(const char *target, int folder, const char *path) {
    AROUND("link", folder, path, REAL(symlinkat)(target, folder, path));
}
int link(const char *from, const char *to) { AROUND("link", AT_FDCWD, to, REAL(link)(from, to)); }
int linkat(int a, const char *from, int b, const char *to, int flags) {
    AROUND("link", b, to, REAL(linkat)(a, from, b, to, flags));
}

static mode_t mode_of(int flags, va_list rest) {
    return flags & (O_CREAT | O_TMPFILE) ? (mode_t)va_arg(rest, int) : 0;
}

/* Only an open that makes or empties a file changes something. */
#define OPENS(flags) ((flags) & (O_CREAT | O_TRUNC))
#define DEFINE_OPEN(name)                                                                  \
    int name(const char *path, int flags, ...) {                                           \
        va_list rest;                                                                      \
        va_start(rest, flags);                                                             \
        mode_t mode = mode_of(flags, rest);                                                \
        va_end(rest);                                                                      \
        if (OPENS(flags) && fails("open", AT_FDCWD, path)) return -1;                      \
        return REAL(name)(path, flags, mode);                                              \
    }
#define DEFINE_OPENAT(name)                                                                \
    int name(int folder, const char *path, int flags, ...) {                               \
        va_list rest;                                                                      \
        va_start(rest, flags);                                                             \
        mode_t mode = mode_of(flags, rest);                                                \
        va_end(rest);                                                                      \
        if (OPENS(flags) && fails("open", folder, path)) return -1;                        \
        return REAL(name)(folder, path, flags, mode);                                      \
    }
DEFINE_OPEN(open)
DEFINE_OPEN(open64)
DEFINE_OPENAT(openat)
DEFINE_OPENAT(openat64)

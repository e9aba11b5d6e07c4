/* A disk that fails, or that is recorded: preloaded (LD_PRELOAD) into a process under test.
 *
 * DISK_NAME   files whose path holds this text are on that disk; others are not touched
 * DISK_COUNT  a file; each operation adds a byte to it, so that its size is the operation's number
 * DISK_AT     number of the operation from which on the disk fails
 * DISK_HOW    how: eio, enospc, short (half of the bytes, then enospc), sync (only fsync fails, EIO),
 *             kill or stop (SIGKILL or SIGSTOP to the first process that was started with the library, before
 *             this operation only), or interrupt (SIGINT to all processes of its group, as Ctrl-C does)
 * DISK_ONCE   fail this operation only, not those after it
 * DISK_FIRST  set here: the number of that first process
 * DISK_LOG    a file that gets every operation, for tests/durability/disks.py to replay
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Processes that are started later inherit the variable. */
__attribute__((constructor)) static void name_first(void) {
    char number[32];
    snprintf(number, sizeof number, "%ld", (long)getpid());
    setenv("DISK_FIRST", number, 0);
}

#define REAL(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))

static int path_matches(const char *path) {
    const char *name = getenv("DISK_NAME");
    return name && *name && strstr(path, name) != NULL;
}

static int on_disk(int fd, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, 4095);
    if (length <= 0) return 0;
    path[length] = 0;
    return path_matches(path);
}

static void record(char kind, const char *path, int64_t offset, const void *data, uint64_t size) {
    const char *log = getenv("DISK_LOG");
    if (!log) return;
    int fd = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) abort();
    uint64_t length = strlen(path);
    struct iovec parts[] = {{&kind, 1}, {&length, 8}, {(void *)path, length},
                            {&offset, 8}, {&size, 8}, {(void *)data, data ? size : 0}};
    if (syscall(SYS_writev, fd, parts, 6) < 0) abort();
    syscall(SYS_close, fd);
}

/* Return whether this is a signal, and not an error; send it when it is its time. */
static int send_signal(const char *how, int is_time) {
    int is_kill = !strcmp(how, "kill"), is_stop = !strcmp(how, "stop"), is_interrupt = !strcmp(how, "interrupt");
    if (is_time && (is_kill || is_stop)) kill(atoi(getenv("DISK_FIRST")), is_kill ? SIGKILL : SIGSTOP);
    if (is_time && is_interrupt) kill(0, SIGINT);
    return is_kill || is_stop || is_interrupt;
}

/* Count an operation; return the error it fails with, 0 if it does not, -1 for a short write. */
static int fault(int is_sync) {
    const char *count = getenv("DISK_COUNT"), *at = getenv("DISK_AT"), *how = getenv("DISK_HOW");
    if (!count) return 0;
    int fd = syscall(SYS_openat, AT_FDCWD, count, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) abort();
    syscall(SYS_write, fd, "x", 1);
    long number = lseek(fd, 0, SEEK_CUR); /* the end of this byte: no other operation has this number */
    syscall(SYS_close, fd);
    long first = at ? atol(at) : 0;
    if (how && send_signal(how, first && number == first)) return 0;
    if (!first || !how || number < first || (getenv("DISK_ONCE") && number != first)) return 0;
    if (!strcmp(how, "sync")) return is_sync ? EIO : 0;
    if (!strcmp(how, "eio")) return EIO;
    if (is_sync) return 0;
    return !strcmp(how, "short") && number == first ? -1 : ENOSPC;
}

#define FAIL(is_sync)                    \
    int error = fault(is_sync);          \
    if (error > 0) {                     \
        errno = error;                   \
        return -1;                       \
    }

ssize_t write(int fd, const void *data, size_t size) {
    char path[4096];
    if (!on_disk(fd, path)) return REAL(write)(fd, data, size);
    FAIL(0)
    if (error) size = (size + 1) / 2;
    int64_t offset = lseek(fd, 0, fcntl(fd, F_GETFL) & O_APPEND ? SEEK_END : SEEK_CUR);
    ssize_t done = REAL(write)(fd, data, size);
    if (done > 0) record('W', path, offset, data, done);
    return done;
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) {
    char path[4096];
    if (!on_disk(fd, path)) return REAL(pwrite64)(fd, data, size, offset);
    FAIL(0)
    if (error) size = (size + 1) / 2;
    ssize_t done = REAL(pwrite64)(fd, data, size, offset);
    if (done > 0) record('W', path, offset, data, done);
    return done;
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) { return pwrite64(fd, data, size, offset); }

int ftruncate64(int fd, off64_t size) {
    char path[4096];
    if (!on_disk(fd, path)) return REAL(ftruncate64)(fd, size);
    FAIL(0)
    int done = REAL(ftruncate64)(fd, size);
    if (!done) record('T', path, size, NULL, 0);
    return done;
}

int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }

int fsync(int fd) {
    char path[4096];
    if (!on_disk(fd, path)) return REAL(fsync)(fd);
    FAIL(1)
    record('S', path, 0, NULL, 0);
    return 0;
}

int fdatasync(int fd) { return fsync(fd); }

int unlink(const char *path) {
    int done = REAL(unlink)(path);
    if (!done && path_matches(path)) record('U', path, 0, NULL, 0);
    return done;
}

int rename(const char *from, const char *to) {
    int done = REAL(rename)(from, to);
    if (!done && (path_matches(from) || path_matches(to))) record('R', from, 0, to, strlen(to));
    return done;
}

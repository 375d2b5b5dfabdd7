/*
 * A library to be loaded before others (LD_PRELOAD): lets chosen calls that change a folder fail, or kills the process at one.
 *
 * Calls are counted whose path lies below FAULT_ROOT (as an absolute path, or reached through /proc/self/fd). What is to happen stands in
 * the file FAULT_CONTROL, which the process itself rewrites between two trials: eight 32-bit integers
 *   0 calls counted so far      1 number of the first call that fails (0: none)   2 errno
 *   3 1: every call from then on fails, 0: only the first                          4 number of the call that kills the process (0: none)
 *   5 1: a failing write writes half of its bytes first (the call itself then succeeds, the next write fails)
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static volatile int *control;
static const char *root;
static size_t root_length;

__attribute__((constructor)) static void start(void) {
  const char *file = getenv("FAULT_CONTROL");
  root = getenv("FAULT_ROOT");
  if (file == NULL || root == NULL) return;
  root_length = strlen(root);
  int fd = open(file, O_RDWR | O_CLOEXEC);
  if (fd < 0) return;
  void *shared = mmap(NULL, 8 * sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (shared != MAP_FAILED) control = shared;
}

static int is_below(const char *path) {
  return strncmp(path, root, root_length) == 0 && (path[root_length] == '/' || path[root_length] == '\0');
}

static int is_open_below(int fd) {
  char link[64], target[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, target, sizeof target - 1);
  if (length < 0) return 0;
  target[length] = '\0';
  return is_below(target);
}

static int concerns_path(int folder, const char *path) {
  if (path == NULL) return is_open_below(folder);
  if (strncmp(path, "/proc/self/fd/", 14) == 0) return is_open_below(atoi(path + 14));
  if (path[0] == '/') return is_below(path);
  return folder != AT_FDCWD && is_open_below(folder);
}

/* 0: the call goes on; otherwise the errno with which it fails. */
static int met(void) {
  int number = ++control[0];
  if (control[4] != 0 && number >= control[4]) kill(getpid(), SIGKILL);
  if (control[1] == 0 || number < control[1]) return 0;
  return control[3] || number == control[1] ? control[2] : 0;
}

#define REAL(name) static __typeof__(name) *real; if (real == NULL) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)
#define FAIL(concerned) do { if (control != NULL && (concerned)) { int code = met(); if (code != 0) { errno = code; return -1; } } } while (0)

#define OPEN(name) \
  int name(const char *path, int flags, ...) { \
    REAL(name); \
    va_list more; va_start(more, flags); mode_t mode = va_arg(more, mode_t); va_end(more); \
    if (flags & (O_CREAT | O_TRUNC)) FAIL(concerns_path(AT_FDCWD, path)); \
    return real(path, flags, mode); \
  }
OPEN(open)
OPEN(open64)
#define OPENAT(name) \
  int name(int folder, const char *path, int flags, ...) { \
    REAL(name); \
    va_list more; va_start(more, flags); mode_t mode = va_arg(more, mode_t); va_end(more); \
    if (flags & (O_CREAT | O_TRUNC)) FAIL(concerns_path(folder, path)); \
    return real(folder, path, flags, mode); \
  }
OPENAT(openat)
OPENAT(openat64)

/* Sets `size` to the part that a failing write does; -1: the call fails. */
static int cut(int fd, size_t *size) {
  if (control == NULL || !is_open_below(fd)) return 0;
  int code = met();
  if (code == 0) return 0;
  if (control[5] && *size > 1 && control[0] == control[1]) {
    *size /= 2;
    control[1] += 1;
    return 0;
  }
  errno = code;
  return -1;
}

ssize_t write(int fd, const void *data, size_t size) {
  REAL(write);
  return cut(fd, &size) < 0 ? -1 : real(fd, data, size);
}
#define PWRITE(name, offset_type) \
  ssize_t name(int fd, const void *data, size_t size, offset_type offset) { \
    REAL(name); \
    return cut(fd, &size) < 0 ? -1 : real(fd, data, size, offset); \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)
ssize_t writev(int fd, const struct iovec *parts, int count) {
  REAL(writev);
  FAIL(is_open_below(fd));
  return real(fd, parts, count);
}
#define PWRITEV(name, offset_type) \
  ssize_t name(int fd, const struct iovec *parts, int count, offset_type offset) { \
    REAL(name); \
    FAIL(is_open_below(fd)); \
    return real(fd, parts, count, offset); \
  }
PWRITEV(pwritev, off_t)
PWRITEV(pwritev64, off64_t)
ssize_t copy_file_range(int from, off64_t *from_at, int to, off64_t *to_at, size_t size, unsigned flags) {
  REAL(copy_file_range);
  FAIL(is_open_below(to));
  return real(from, from_at, to, to_at, size, flags);
}

#define ON_PATH(name) int name(const char *path) { REAL(name); FAIL(concerns_path(AT_FDCWD, path)); return real(path); }
ON_PATH(unlink)
ON_PATH(rmdir)
ON_PATH(remove)
#define ON_PATH_MODE(name) int name(const char *path, mode_t mode) { REAL(name); FAIL(concerns_path(AT_FDCWD, path)); return real(path, mode); }
ON_PATH_MODE(mkdir)
ON_PATH_MODE(chmod)
#define ON_FD(name) int name(int fd) { REAL(name); FAIL(is_open_below(fd)); return real(fd); }
ON_FD(fsync)
ON_FD(fdatasync)
#define ON_TWO(name) \
  int name(const char *from, const char *to) { REAL(name); FAIL(concerns_path(AT_FDCWD, to) || concerns_path(AT_FDCWD, from)); return real(from, to); }
ON_TWO(rename)
ON_TWO(link)
int symlink(const char *target, const char *path) { REAL(symlink); FAIL(concerns_path(AT_FDCWD, path)); return real(target, path); }
int unlinkat(int folder, const char *path, int flags) { REAL(unlinkat); FAIL(concerns_path(folder, path)); return real(folder, path, flags); }
int mkdirat(int folder, const char *path, mode_t mode) { REAL(mkdirat); FAIL(concerns_path(folder, path)); return real(folder, path, mode); }
int renameat(int from_folder, const char *from, int to_folder, const char *to) {
  REAL(renameat);
  FAIL(concerns_path(to_folder, to) || concerns_path(from_folder, from));
  return real(from_folder, from, to_folder, to);
}
int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
  REAL(renameat2);
  FAIL(concerns_path(to_folder, to) || concerns_path(from_folder, from));
  return real(from_folder, from, to_folder, to, flags);
}
int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
  REAL(linkat);
  FAIL(concerns_path(to_folder, to));
  return real(from_folder, from, to_folder, to, flags);
}
int ftruncate(int fd, off_t length) { REAL(ftruncate); FAIL(is_open_below(fd)); return real(fd, length); }
int ftruncate64(int fd, off64_t length) { REAL(ftruncate64); FAIL(is_open_below(fd)); return real(fd, length); }
int fchmod(int fd, mode_t mode) { REAL(fchmod); FAIL(is_open_below(fd)); return real(fd, mode); }
int fchown(int fd, uid_t user, gid_t group) { REAL(fchown); FAIL(is_open_below(fd)); return real(fd, user, group); }
int lchown(const char *path, uid_t user, gid_t group) { REAL(lchown); FAIL(concerns_path(AT_FDCWD, path)); return real(path, user, group); }
int utimensat(int folder, const char *path, const struct timespec times[2], int flags) {
  REAL(utimensat);
  FAIL(concerns_path(folder, path));
  return real(folder, path, times, flags);
}
int futimens(int fd, const struct timespec times[2]) { REAL(futimens); FAIL(is_open_below(fd)); return real(fd, times); }

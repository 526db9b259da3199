/*
 * Stands between a process and its files, through LD_PRELOAD: a full disk, a flush that fails, and a power cut.
 *
 * FAULTY_DISK_CONTROL  a file with the fields of `struct control`, which faulty-disk.ts writes while the process runs
 * FAULTY_DISK_FILES    the path of a file or folder: faults concern all paths that begin with it
 * FAULTY_DISK_JOURNAL  unset, or the beginning of the names of the journals. Each write to the file FAULTY_DISK_FILES or
 *                      to its log (`-wal`) is noted there before it happens, with the bytes that it replaces. A flush of
 *                      the file empties its journal. So after a power cut the writes that no flush protects are known.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

struct control {
  /* 1: no write succeeds. 2: no write that makes a file longer succeeds. */
  _Atomic uint32_t full;
  /* The number of the next flushes that fail. */
  _Atomic uint32_t failing;
  /* The process is killed at the start of its n-th flush from now on that has something to flush. 0: at none. */
  _Atomic uint32_t deadly;
  _Atomic uint32_t refused_writes;
  _Atomic uint32_t refused_flushes;
};

/* The head of a journal's entry; the new bytes and the old ones follow. */
struct entry {
  uint64_t offset;
  uint64_t new_length;
  uint64_t old_length;
  uint64_t old_size;
  /* The size that the file gets when it is cut; -1 for a write. */
  int64_t cut_to;
};

static struct control *control;
static char files[4096];
static char journal_name[2][4096];
static int journal[2] = {-1, -1};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_pwritev)(int, const struct iovec *, int, off_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_ftruncate)(int, off_t);
static int (*real_fallocate)(int, off_t, off_t);
static int (*real_unlink)(const char *);

__attribute__((constructor)) static void begin(void) {
  real_pwrite = dlsym(RTLD_NEXT, "pwrite");
  real_pwritev = dlsym(RTLD_NEXT, "pwritev");
  real_fsync = dlsym(RTLD_NEXT, "fsync");
  real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  real_ftruncate = dlsym(RTLD_NEXT, "ftruncate");
  real_fallocate = dlsym(RTLD_NEXT, "posix_fallocate");
  real_unlink = dlsym(RTLD_NEXT, "unlink");
  const char *path = getenv("FAULTY_DISK_CONTROL");
  const char *concerned = getenv("FAULTY_DISK_FILES");
  const char *prefix = getenv("FAULTY_DISK_JOURNAL");
  if (path == NULL || concerned == NULL) return;
  snprintf(files, sizeof files, "%s", concerned);
  if (prefix != NULL) {
    snprintf(journal_name[0], sizeof journal_name[0], "%s", prefix);
    snprintf(journal_name[1], sizeof journal_name[1], "%s-wal", prefix);
  }
  int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd == -1) return;
  void *shared = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (shared != MAP_FAILED) control = shared;
}

/* -2: not concerned. -1: concerned, without a journal. Otherwise the number of its journal. */
static int file_of(int fd) {
  if (control == NULL) return -2;
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return -2;
  path[length] = 0;
  size_t own = strlen(files);
  if (strncmp(path, files, own) != 0) return -2;
  if (journal_name[0][0] == 0) return -1;
  if (path[own] == 0) return 0;
  return strcmp(path + own, "-wal") == 0 ? 1 : -1;
}

static off_t size_of(int fd) {
  struct stat found;
  return fstat(fd, &found) == 0 ? found.st_size : 0;
}

static int journal_of(int which) {
  if (journal[which] == -1)
    journal[which] = open(journal_name[which], O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  return journal[which];
}

/* Notes one write, or the cut of a file, before it happens. */
static void note(int which, int fd, const void *bytes, size_t length, off_t offset, int64_t cut_to) {
  off_t size = size_of(fd);
  off_t end = cut_to == -1 ? offset + (off_t)length : size;
  if (end > size) end = size;
  size_t old = end > offset ? (size_t)(end - offset) : 0;
  struct entry head = {(uint64_t)offset, length, old, (uint64_t)size, cut_to};
  size_t whole = sizeof head + length + old;
  char *buffer = malloc(whole);
  if (buffer == NULL) abort();
  memcpy(buffer, &head, sizeof head);
  if (length > 0) memcpy(buffer + sizeof head, bytes, length);
  if (old > 0 && pread(fd, buffer + sizeof head + length, old, offset) != (ssize_t)old) abort();
  /* Written at once: after a kill the journal ends with a whole entry, or with one that its length shows as cut. */
  if (write(journal_of(which), buffer, whole) != (ssize_t)whole) abort();
  free(buffer);
}

static int is_refused(int fd, off_t end) {
  uint32_t full = atomic_load(&control->full);
  if (full == 0 || (full == 2 && end <= size_of(fd))) return 0;
  atomic_fetch_add(&control->refused_writes, 1);
  return 1;
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) {
  int which = file_of(fd);
  if (which == -2) return real_pwrite(fd, bytes, length, offset);
  if (is_refused(fd, offset + (off_t)length)) {
    errno = ENOSPC;
    return -1;
  }
  if (which == -1) return real_pwrite(fd, bytes, length, offset);
  pthread_mutex_lock(&lock);
  note(which, fd, bytes, length, offset, -1);
  ssize_t written = real_pwrite(fd, bytes, length, offset);
  pthread_mutex_unlock(&lock);
  return written;
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off_t offset) { return pwrite(fd, bytes, length, offset); }

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
  off_t end = offset;
  for (int part = 0; part < count; part++) end += (off_t)parts[part].iov_len;
  if (file_of(fd) != -2 && is_refused(fd, end)) {
    errno = ENOSPC;
    return -1;
  }
  return real_pwritev(fd, parts, count, offset);
}

int posix_fallocate(int fd, off_t offset, off_t length) {
  if (file_of(fd) != -2 && is_refused(fd, offset + length)) return ENOSPC;
  return real_fallocate(fd, offset, length);
}

int ftruncate(int fd, off_t size) {
  int which = file_of(fd);
  if (which < 0) return real_ftruncate(fd, size);
  pthread_mutex_lock(&lock);
  note(which, fd, NULL, 0, size, size);
  int result = real_ftruncate(fd, size);
  pthread_mutex_unlock(&lock);
  return result;
}

int ftruncate64(int fd, off_t size) { return ftruncate(fd, size); }

/* The next log has the name of the deleted one, and none of its writes. */
int unlink(const char *path) {
  size_t own = strlen(files);
  int result = real_unlink(path);
  if (result != 0 || journal_name[1][0] == 0 || strncmp(path, files, own) != 0) return result;
  if (strcmp(path + own, "-wal") != 0) return result;
  pthread_mutex_lock(&lock);
  if (real_ftruncate(journal_of(1), 0) != 0) abort();
  pthread_mutex_unlock(&lock);
  return result;
}

/* Takes one from a counter. Returns its value before, or 0. */
static uint32_t take(_Atomic uint32_t *counter) {
  uint32_t value = atomic_load(counter);
  while (value > 0 && !atomic_compare_exchange_weak(counter, &value, value - 1));
  return value;
}

static int flush(int fd, int (*real)(int)) {
  int which = file_of(fd);
  if (which == -2) return real(fd);
  if (take(&control->failing) > 0) {
    atomic_fetch_add(&control->refused_flushes, 1);
    errno = EIO;
    return -1;
  }
  if (which == -1) return real(fd);
  pthread_mutex_lock(&lock);
  if (size_of(journal_of(which)) > 0 && take(&control->deadly) == 1) kill(getpid(), SIGKILL);
  int result = real(fd);
  if (result == 0 && real_ftruncate(journal_of(which), 0) != 0) abort();
  pthread_mutex_unlock(&lock);
  return result;
}

int fsync(int fd) { return flush(fd, real_fsync); }

int fdatasync(int fd) { return flush(fd, real_fdatasync); }

#include "attack.h"
#include <dirent.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/xattr.h>

/* FILE TEXT: by openat2, whose flags lie in memory. */
static int by_openat2(int argc, char **argv) {
  struct open_how how = {.flags = O_WRONLY | O_CREAT | O_TRUNC, .mode = 0644};
  return put(syscall(SYS_openat2, AT_FDCWD, argv[1], &how, sizeof how), argv[2]);
}

/* FILE TEXT: by creat. */
static int by_creat(int argc, char **argv) { return put(syscall(SYS_creat, argv[1], 0644), argv[2]); }

/* DIR NAME TEXT: relative to a descriptor of the directory. */
static int by_dirfd(int argc, char **argv) {
  int dir = open(argv[1], O_PATH | O_DIRECTORY);
  return put(openat(dir, argv[2], O_WRONLY | O_CREAT, 0644), argv[3]);
}

/* DIR NAME TEXT: an unnamed file that is linked into the directory. */
static int by_tmpfile(int argc, char **argv) {
  char from[64], to[4096];
  int fd = open(".", O_TMPFILE | O_WRONLY, 0644);
  if (put(fd, argv[3])) return 1;
  snprintf(from, sizeof from, "/proc/self/fd/%d", fd);
  snprintf(to, sizeof to, "%s/%s", argv[1], argv[2]);
  if (linkat(AT_FDCWD, from, AT_FDCWD, to, AT_SYMLINK_FOLLOW) == 0) return 0;
  return linkat(fd, "", AT_FDCWD, to, AT_EMPTY_PATH) ? failed("linkat") : 0;
}

/* DIR NAME TEXT: an unnamed file of that directory itself. */
static int by_tmpfile_there(int argc, char **argv) {
  char from[64];
  int dir = open(argv[1], O_PATH | O_DIRECTORY), fd = openat(dir, ".", O_TMPFILE | O_WRONLY, 0644);
  if (put(fd, argv[3])) return 1;
  snprintf(from, sizeof from, "/proc/self/fd/%d", fd);
  return linkat(AT_FDCWD, from, dir, argv[2], AT_SYMLINK_FOLLOW) ? failed("linkat") : 0;
}

/* FILE TEXT: a descriptor for reading, opened again for writing through /proc. */
static int by_reopen(int argc, char **argv) {
  char name[64];
  int fd = open(argv[1], O_PATH);
  snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  return put(open(name, O_WRONLY | O_TRUNC), argv[2]);
}

/* FILE TEXT: a shared mapping. */
static int by_mapping(int argc, char **argv) {
  int fd = open(argv[1], O_RDWR);
  char *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (map == MAP_FAILED) return failed("mmap");
  memcpy(map, argv[2], 1);
  return msync(map, 4096, MS_SYNC) ? failed("msync") : 0;
}

/* FILE TEXT: a private mapping of a file opened for reading, written through /proc/self/mem. */
static int by_own_memory(int argc, char **argv) {
  int fd = open(argv[1], O_RDONLY), mem = open("/proc/self/mem", O_RDWR);
  char *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
  if (map == MAP_FAILED || mem < 0) return failed("mmap");
  return pwrite(mem, argv[2], 1, (off_t)(intptr_t)map) == 1 ? 0 : failed("pwrite");
}

/* FILE TEXT: by a file handle, which knows no path. Needs a privilege. */
static int by_handle(int argc, char **argv) {
  struct file_handle *handle = calloc(1, sizeof *handle + MAX_HANDLE_SZ);
  int id, mount = open(".", O_RDONLY);
  handle->handle_bytes = MAX_HANDLE_SZ;
  if (name_to_handle_at(AT_FDCWD, argv[1], handle, &id, 0)) return failed("name_to_handle_at");
  if (argc < 3) {
    char text[256] = "";
    int fd = open_by_handle_at(mount, handle, O_RDONLY);
    return fd < 0 || read(fd, text, sizeof text - 1) < 0 ? failed("open_by_handle_at") : (puts(text), 0);
  }
  return put(open_by_handle_at(mount, handle, O_WRONLY), argv[2]);
}

/* FROM TO: renameat2 with RENAME_EXCHANGE. */
static int by_exchange(int argc, char **argv) {
  return syscall(SYS_renameat2, AT_FDCWD, argv[1], AT_FDCWD, argv[2], RENAME_EXCHANGE) ? failed("renameat2") : 0;
}

/* FROM TO: renameat2 with RENAME_WHITEOUT, or plain where the file system has none. */
static int by_renameat2(int argc, char **argv) {
  return syscall(SYS_renameat2, AT_FDCWD, argv[1], AT_FDCWD, argv[2], RENAME_NOREPLACE) ? failed("renameat2") : 0;
}

/* TARGET PATH TEXT: tries each open descriptor, and the working directory, as a way to the target. */
static int by_descriptors(int argc, char **argv) {
  char path[4096];
  for (int fd = -1; fd < 1024; fd++) {
    struct stat stat;
    int dir = fd < 0 ? open(".", O_RDONLY | O_DIRECTORY) : fd;
    if (fstat(dir, &stat) || !S_ISDIR(stat.st_mode)) continue;
    snprintf(path, sizeof path, "../../../../../../../../../..%s", argv[1]);
    if (put(openat(dir, path, O_WRONLY | O_CREAT, 0644), argv[2]) == 0) return 0;
    snprintf(path, sizeof path, "/proc/self/fd/%d/../../../../../..%s", dir, argv[1]);
    if (put(open(path, O_WRONLY | O_CREAT, 0644), argv[2]) == 0) return 0;
  }
  return 1;
}

/* DIR TARGET TEXT: chroot into a directory while another one is the working directory, then walk up. */
static int by_chroot(int argc, char **argv) {
  char path[4096];
  if (chroot(argv[1])) return failed("chroot");
  for (int n = 0; n < 64; n++)
    if (chdir("..")) return failed("chdir");
  if (chroot(".")) return failed("chroot");
  snprintf(path, sizeof path, "%s", argv[2]);
  return put(open(path, O_WRONLY | O_CREAT, 0644), argv[3]);
}

/* FILE: prints it through a mapping. */
static int map_read(int argc, char **argv) {
  int fd = open(argv[1], O_RDONLY);
  char *map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
  return map == MAP_FAILED ? failed("mmap") : (printf("%s\n", map), 0);
}

/* FILE: prints it through sendfile, splice or copy_file_range. */
static int send_read(int argc, char **argv) {
  int fd = open(argv[1], O_RDONLY), pipes[2];
  if (pipe(pipes) || splice(fd, NULL, pipes[1], NULL, 256, 0) < 0) return failed("splice");
  char text[257] = "";
  return read(pipes[0], text, 256) < 0 ? failed("read") : (puts(text), 0);
}

/* DIR: prints its names through getdents on an O_PATH descriptor opened again. */
static int list(int argc, char **argv) {
  int fd = openat(open(argv[1], O_PATH | O_DIRECTORY), ".", O_RDONLY | O_DIRECTORY);
  DIR *dir = fd < 0 ? NULL : fdopendir(fd);
  if (!dir) return failed("opendir");
  for (struct dirent *entry; (entry = readdir(dir));) puts(entry->d_name);
  return 0;
}

/* FILE MODE: by the file's descriptor. */
static int by_fchmod(int argc, char **argv) {
  return fchmod(open(argv[1], O_RDONLY), strtol(argv[2], NULL, 8)) ? failed("fchmod") : 0;
}

/* FILE MODE: by fchmodat2 (kernel 6.6). */
static int by_fchmodat2(int argc, char **argv) {
  return syscall(452, AT_FDCWD, argv[1], strtol(argv[2], NULL, 8), 0) ? failed("fchmodat2") : 0;
}

/* FILE: sets an extended attribute, also by setxattrat's older kin. */
static int by_xattr(int argc, char **argv) {
  return fsetxattr(open(argv[1], O_RDONLY), "user.attack", "1", 1, 0) ? failed("fsetxattr") : 0;
}

/* FILE: sets the immutable or append-only flag of an inode, or its project. */
static int by_inode_flags(int argc, char **argv) {
  int fd = open(argv[1], O_RDONLY), flags = 0;
  if (fd < 0 || ioctl(fd, FS_IOC_GETFLAGS, &flags)) return failed("FS_IOC_GETFLAGS");
  flags ^= FS_NODUMP_FL;
  return ioctl(fd, FS_IOC_SETFLAGS, &flags) ? failed("FS_IOC_SETFLAGS") : said();
}

/* NAME MODE: mkdir, mknod and symlink by their oldest calls. */
static int by_mkdir(int argc, char **argv) { return syscall(SYS_mkdir, argv[1], 0755) ? failed("mkdir") : 0; }
static int by_mknod(int argc, char **argv) { return syscall(SYS_mknod, argv[1], S_IFREG | 0644, 0) ? failed("mknod") : 0; }
static int by_mknodat(int argc, char **argv) { return mknodat(AT_FDCWD, argv[1], S_IFREG | 0644, 0) ? failed("mknodat") : 0; }

const struct attack file_attacks[] = {
    {"openat2", by_openat2},   {"creat", by_creat},       {"dirfd", by_dirfd},         {"tmpfile", by_tmpfile},
    {"tmpfile-there", by_tmpfile_there},                  {"reopen", by_reopen},       {"mapping", by_mapping},
    {"own-memory", by_own_memory},                        {"handle", by_handle},       {"exchange", by_exchange},
    {"renameat2", by_renameat2},                          {"descriptors", by_descriptors},
    {"chroot", by_chroot},     {"map-read", map_read},    {"send-read", send_read},    {"list", list},
    {"fchmod", by_fchmod},     {"fchmodat2", by_fchmodat2},                            {"xattr", by_xattr},
    {"inode-flags", by_inode_flags},                      {"mkdir", by_mkdir},         {"mknod", by_mknod},
    {"mknodat", by_mknodat},   {NULL, NULL},
};

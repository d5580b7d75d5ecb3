/* A kernel module of NVIDIA's of another version, for the real NVML (LD_PRELOAD): the device /dev/nvidiactl opens, and the
   question whether library and module are of one version (NV_ESC_CHECK_VERSION_STR of the open module's nv-ioctl-numbers.h)
   is answered with no. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { CHECK_VERSION = 210, UNRECOGNIZED = 0 };
struct version { unsigned command, reply; char text[64]; };
static int control = -1;

static int open_path(const char *name, const char *path, int flags, int mode)
{
    int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, name);
    int is_control = strcmp(path, "/dev/nvidiactl") == 0;
    int handle = real(is_control ? "/dev/null" : path, flags, mode);
    if (is_control)
        control = handle;
    return handle;
}

int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    int mode = va_arg(more, int);
    va_end(more);
    return open_path("open", path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    int mode = va_arg(more, int);
    va_end(more);
    return open_path("open64", path, flags, mode);
}

int ioctl(int handle, unsigned long request, ...)
{
    va_list more;
    va_start(more, request);
    void *data = va_arg(more, void *);
    va_end(more);
    if (handle < 0 || handle != control) {
        int (*real)(int, unsigned long, ...) = dlsym(RTLD_NEXT, "ioctl");
        return real(handle, request, data);
    }
    if (_IOC_NR(request) == CHECK_VERSION) {
        struct version *version = data;
        version->reply = UNRECOGNIZED;
        strcpy(version->text, "999.99");
    }
    errno = EINVAL;
    return -1;
}

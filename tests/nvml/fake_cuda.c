/* Answers in the CUDA driver's place: the devices that CUDA_VISIBLE_DEVICES leaves of four, and their UUIDs. A UUID has the
 * card's number in each of its bytes. */
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default"))) int
enum { OK = 0, INVALID_DEVICE = 101, CARDS = 4 };

API cuDeviceGet(int *device, int number) {
    const char *at = getenv("CUDA_VISIBLE_DEVICES");
    if (!at) at = "0,1,2,3";
    while (at && number--) {
        at = strchr(at, ',');
        if (at) at++;
    }
    if (!at || atoi(at) >= CARDS) return INVALID_DEVICE;
    *device = atoi(at);
    return OK;
}

API cuDeviceGetUuid(unsigned char *to, int device) {
    memset(to, device, 16);
    return OK;
}

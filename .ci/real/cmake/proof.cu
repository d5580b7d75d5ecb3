/* Calls each library that it is linked with, none of which takes a card for that. */
#include <cstdio>
#include <cublas_v2.h>
#include <cufft.h>
#include <curand.h>
#include <cusolverDn.h>
#include <cusparse.h>
#include <nvrtc.h>

__global__ void twice(float *values) { values[threadIdx.x] *= 2; }

int main() {
    int runtime = 0, cufft = 0, curand = 0, cusolver = 0, cusparse = 0, nvrtc[2] = {0, 0};
    size_t cublas = cublasGetCudartVersion();
    bool right = !cudaRuntimeGetVersion(&runtime) && !cufftGetVersion(&cufft) && !curandGetVersion(&curand);
    right = right && !cusolverGetVersion(&cusolver) && !nvrtcVersion(&nvrtc[0], &nvrtc[1]);
    right = right && !cusparseGetProperty(MAJOR_VERSION, &cusparse);
    std::printf("runtime %d, cuBLAS for %zu, cuFFT %d, cuRAND %d, cuSOLVER %d, cuSPARSE %d, NVRTC %d.%d\n", runtime, cublas, cufft,
                curand, cusolver, cusparse, nvrtc[0], nvrtc[1]);
    return right ? 0 : 1;
}

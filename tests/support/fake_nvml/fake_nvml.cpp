// A stand-in for NVIDIA's management library: two GPUs, the second 64 % busy.
#include <cstring>

extern "C" {

int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  static int devices[2];
  *device = &devices[index];
  devices[index] = static_cast<int>(index);
  return 0;
}
int nvmlDeviceGetName(const int* device, char* name, unsigned length) {
  std::strncpy(name, *device == 0 ? "First GPU" : "Second GPU", length);
  return 0;
}
int nvmlDeviceGetUtilizationRates(const int* device, unsigned* rates) {
  rates[0] = *device == 0 ? 5 : 64;
  rates[1] = 1;
  return 0;
}
}

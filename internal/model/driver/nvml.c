//go:build linux && cgo

#include "nvml.h"
#include <dlfcn.h>

typedef void *device;
typedef struct { unsigned long long total, free, used; } memory;

static const char *(*says)(int);
static int (*driver_of)(char *, unsigned);
static int (*cuda_of)(int *);
static int (*count_of)(unsigned *);
static int (*card_of)(unsigned, device *);
static int (*energy_of)(device, unsigned long long *);
static int (*name_of)(device, char *, unsigned);
static int (*uuid_of)(device, char *, unsigned);
static int (*memory_of)(device, memory *);
static int (*capability_of)(device, int *, int *);

int redsi_nvml_open(const char *library) {
  void *lib = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  if (!lib) return -1;
  int (*init)(void) = (int (*)(void))dlsym(lib, "nvmlInit_v2");
  says = (const char *(*)(int))dlsym(lib, "nvmlErrorString");
  driver_of = (int (*)(char *, unsigned))dlsym(lib, "nvmlSystemGetDriverVersion");
  cuda_of = (int (*)(int *))dlsym(lib, "nvmlSystemGetCudaDriverVersion_v2");
  count_of = (int (*)(unsigned *))dlsym(lib, "nvmlDeviceGetCount_v2");
  card_of = (int (*)(unsigned, device *))dlsym(lib, "nvmlDeviceGetHandleByIndex_v2");
  energy_of = (int (*)(device, unsigned long long *))dlsym(lib, "nvmlDeviceGetTotalEnergyConsumption");
  name_of = (int (*)(device, char *, unsigned))dlsym(lib, "nvmlDeviceGetName");
  uuid_of = (int (*)(device, char *, unsigned))dlsym(lib, "nvmlDeviceGetUUID");
  memory_of = (int (*)(device, memory *))dlsym(lib, "nvmlDeviceGetMemoryInfo");
  capability_of = (int (*)(device, int *, int *))dlsym(lib, "nvmlDeviceGetCudaComputeCapability");
  if (!init || !count_of || !card_of) return REDSI_NVML_LACKS;
  return init();
}

const char *redsi_nvml_says(int wrong) { return says && wrong > 0 ? says(wrong) : NULL; }

unsigned redsi_nvml_cards(void) {
  unsigned n = 0;
  return count_of(&n) ? 0 : n;
}

int redsi_nvml_driver(char *version, unsigned length) { return driver_of ? driver_of(version, length) : REDSI_NVML_LACKS; }

int redsi_nvml_cuda(int *version) { return cuda_of ? cuda_of(version) : REDSI_NVML_LACKS; }

int redsi_nvml_energy(unsigned card, unsigned long long *mj) {
  device d;
  int wrong = card_of(card, &d);
  if (wrong) return wrong;
  return energy_of ? energy_of(d, mj) : REDSI_NVML_LACKS;
}

int redsi_nvml_name(unsigned card, char *name, unsigned length) {
  device d;
  int wrong = card_of(card, &d);
  if (wrong) return wrong;
  return name_of ? name_of(d, name, length) : REDSI_NVML_LACKS;
}

int redsi_nvml_uuid(unsigned card, char *uuid, unsigned length) {
  device d;
  int wrong = card_of(card, &d);
  if (wrong) return wrong;
  return uuid_of ? uuid_of(d, uuid, length) : REDSI_NVML_LACKS;
}

int redsi_nvml_memory(unsigned card, unsigned long long *total, unsigned long long *free) {
  device d;
  memory m;
  int wrong = card_of(card, &d);
  if (wrong) return wrong;
  if (!memory_of) return REDSI_NVML_LACKS;
  if ((wrong = memory_of(d, &m))) return wrong;
  *total = m.total;
  *free = m.free;
  return 0;
}

int redsi_nvml_capability(unsigned card, int *major, int *minor) {
  device d;
  int wrong = card_of(card, &d);
  if (wrong) return wrong;
  return capability_of ? capability_of(d, major, minor) : REDSI_NVML_LACKS;
}

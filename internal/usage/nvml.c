//go:build linux && cgo

#include "nvml.h"
#include <dlfcn.h>

typedef void *device;

static int (*count_of)(unsigned *);
static int (*card_of)(unsigned, device *);
static int (*energy_of)(device, unsigned long long *);
static int (*name_of)(device, char *, unsigned);

int redsi_nvml_open(const char *library) {
  void *lib = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  if (!lib) return -1;
  int (*init)(void) = (int (*)(void))dlsym(lib, "nvmlInit_v2");
  count_of = (int (*)(unsigned *))dlsym(lib, "nvmlDeviceGetCount_v2");
  card_of = (int (*)(unsigned, device *))dlsym(lib, "nvmlDeviceGetHandleByIndex_v2");
  energy_of = (int (*)(device, unsigned long long *))dlsym(lib, "nvmlDeviceGetTotalEnergyConsumption");
  name_of = (int (*)(device, char *, unsigned))dlsym(lib, "nvmlDeviceGetName");
  if (!init || !count_of || !card_of) return -2;
  return init();
}

unsigned redsi_nvml_cards(void) {
  unsigned n = 0;
  return count_of(&n) ? 0 : n;
}

int redsi_nvml_energy(unsigned card, unsigned long long *mj) {
  device d;
  int wrong = card_of(card, &d);
  if (wrong) return wrong;
  return energy_of ? energy_of(d, mj) : -1;
}

int redsi_nvml_name(unsigned card, char *name, unsigned length) {
  device d;
  int wrong = card_of(card, &d);
  if (wrong) return wrong;
  return name_of ? name_of(d, name, length) : -1;
}

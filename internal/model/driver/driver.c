//go:build linux && cgo

#include "driver.h"
#include <dlfcn.h>
#include <string.h>

// Numbers of CUdevice_attribute in cuda.h.
enum { CAPABILITY_MAJOR = 75, CAPABILITY_MINOR = 76 };

static int (*says)(int, const char **);
static int (*version_of)(int *);
static int (*count_of)(int *);
static int (*card_of)(int *, int);
static int (*name_of)(char *, int, int);
static int (*uuid_of)(unsigned char *, int);
static int (*memory_of)(size_t *, int);
static int (*attribute_of)(int *, int, int);

int redsi_driver_open(const char *library) {
  void *lib = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  if (!lib) return -1;
  int (*init)(unsigned) = (int (*)(unsigned))dlsym(lib, "cuInit");
  says = (int (*)(int, const char **))dlsym(lib, "cuGetErrorString");
  version_of = (int (*)(int *))dlsym(lib, "cuDriverGetVersion");
  count_of = (int (*)(int *))dlsym(lib, "cuDeviceGetCount");
  card_of = (int (*)(int *, int))dlsym(lib, "cuDeviceGet");
  name_of = (int (*)(char *, int, int))dlsym(lib, "cuDeviceGetName");
  uuid_of = (int (*)(unsigned char *, int))dlsym(lib, "cuDeviceGetUuid_v2");
  memory_of = (int (*)(size_t *, int))dlsym(lib, "cuDeviceTotalMem_v2");
  attribute_of = (int (*)(int *, int, int))dlsym(lib, "cuDeviceGetAttribute");
  if (!init || !version_of || !count_of || !card_of || !name_of || !uuid_of || !memory_of || !attribute_of) return -2;
  return init(0);
}

const char *redsi_driver_says(int wrong) {
  const char *text = NULL;
  return says && wrong > 0 && !says(wrong, &text) ? text : NULL;
}

int redsi_driver_version(int *version) { return version_of(version); }

int redsi_driver_cards(int *n) { return count_of(n); }

int redsi_driver_card(int i, char *name, int length, unsigned char uuid[16], size_t *total, int *major, int *minor) {
  int d, wrong = card_of(&d, i);
  if (!wrong) wrong = name_of(name, length, d);
  if (!wrong) wrong = uuid_of(uuid, d);
  if (!wrong) wrong = memory_of(total, d);
  if (!wrong) wrong = attribute_of(major, CAPABILITY_MAJOR, d);
  return wrong ? wrong : attribute_of(minor, CAPABILITY_MINOR, d);
}

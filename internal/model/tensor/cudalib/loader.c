//go:build linux && cgo

#define _GNU_SOURCE
#include "loader.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

static char *error_text(void) {
  const char *msg = dlerror();
  return strdup(msg ? msg : "the loader does not say why");
}

char *redsi_lib_loaded(const char *name) {
  void *handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
  struct link_map *map = NULL;
  if (!handle) return NULL;
  char *path = dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 ? realpath(map->l_name, NULL) : NULL;
  dlclose(handle); // it was loaded before: it stays
  return path;
}

// Lazy: of libraries with thousands of functions few are called. Global: as if it had been linked or preloaded.
char *redsi_lib_open(const char *path) {
  return dlopen(path, RTLD_LAZY | RTLD_GLOBAL) ? NULL : error_text();
}

char *redsi_lib_number(const char *library, const char *function, int *value, int *status) {
  void *handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  if (!handle) return error_text();
  int (*f)(int *) = (int (*)(int *))dlsym(handle, function);
  if (!f) return error_text();
  *value = 0;
  *status = f(value);
  return NULL;
}

char *redsi_lib_text(const char *library, const char *function, int n) {
  void *handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  const char *(*f)(int) = handle ? (const char *(*)(int))dlsym(handle, function) : NULL;
  const char *text = f ? f(n) : NULL;
  return text ? strdup(text) : NULL;
}

#include "cudagraph.h"
#include "table.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

// A program may have the function itself: one whose card is of software does.
#ifdef __linux__
#pragma weak redsi_graphs_1
#else
#define redsi_graphs_1 ((const redsi_graphs *(*)(void))NULL)
#endif

static const redsi_graphs *table;

static const redsi_graphs *known(void) {
  if (!table && redsi_graphs_1) table = redsi_graphs_1();
  return table;
}

int redsi_graphs_known(void) { return known() != NULL; }

char *redsi_graphs_open(const char *path) {
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle) return strdup(dlerror());
  const redsi_graphs *(*offer)(void) = (const redsi_graphs *(*)(void))dlsym(handle, "redsi_graphs_1");
  if (!offer) return strdup("it has no function redsi_graphs_1");
  table = offer();
  return NULL;
}

char *redsi_graph_begin(void **graph, int device, void *beside) {
  if (!known()) return strdup("no library knows how to record");
  return table->begin(graph, device, beside);
}
char *redsi_graph_end(void *graph) { return table->end(graph); }
char *redsi_graph_replay(void *graph) { return table->replay(graph); }
void redsi_graph_free(void *graph) { table->free(graph); }

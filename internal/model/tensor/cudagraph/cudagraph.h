// What cudagraph.c offers to Go. Texts are to be freed; NULL is success.
#pragma once

int redsi_graphs_known(void);
char *redsi_graphs_open(const char *path);
char *redsi_graph_begin(void **graph, int device, void *beside);
char *redsi_graph_end(void *graph);
char *redsi_graph_replay(void *graph);
void redsi_graph_free(void *graph);

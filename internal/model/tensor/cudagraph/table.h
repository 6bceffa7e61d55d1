// Recording what a thread asks of a card, and asking for it again at once: what a library offers that knows how. Texts that
// are returned say what went wrong and are to be freed; NULL is success.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  // Begins to record what this thread, and the backward passes it starts, ask of a card, which does none of it now. What
  // is allocated meanwhile lies in memory of the graph, or in that of another one, beside, where it is not NULL: then
  // the two must never need it at the same time.
  char *(*begin)(void **graph, int device, void *beside);
  // Ends the recording, on the same thread. After an error the graph is of no use, but is to be freed.
  char *(*end)(void *graph);
  // Has the card do all of it, and does not wait.
  char *(*replay)(void *graph);
  // Frees a graph, also one whose recording failed. The card must not be at work on it.
  void (*free)(void *graph);
} redsi_graphs;

// The function by which a library offers them; its name has the number of this interface.
const redsi_graphs *redsi_graphs_1(void);

#ifdef __cplusplus
}
#endif

#include "attack.h"

int main(int argc, char **argv) {
  const struct attack *lists[] = {file_attacks, socket_attacks, process_attacks, call_attacks, race_attacks};
  if (argc < 2) return 2;
  for (size_t n = 0; n < sizeof lists / sizeof *lists; n++)
    for (const struct attack *one = lists[n]; one->name; one++)
      if (strcmp(one->name, argv[1]) == 0) return one->run(argc - 1, argv + 1);
  fprintf(stderr, "no attack %s\n", argv[1]);
  return 2;
}

/* SPDX-License-Identifier: GPL-2.0 */
/* The commands of perfex. */
#ifndef PERFEX_COMMANDS_H
#define PERFEX_COMMANDS_H

/* main() calls these with the words from the command's name on; they return the exit status. */
int record_main(int argc, char **argv);
int compare_main(int argc, char **argv);
int merge_main(int argc, char **argv);
int selftest_main(int argc, char **argv);
/* report and annotate */
int subprogram_main(int argc, char **argv);

#endif /* PERFEX_COMMANDS_H */

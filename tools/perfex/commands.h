/* SPDX-License-Identifier: GPL-2.0 */
/* Declares the main functions of perfex's commands. */
#ifndef PERFEX_COMMANDS_H
#define PERFEX_COMMANDS_H

/*
 * main() calls these functions with the words of the command line from the command's name on. They
 * return the exit status.
 */
int record_main(int argc, char **argv);
int compare_main(int argc, char **argv);
int merge_main(int argc, char **argv);
int selftest_main(int argc, char **argv);
/* Runs perfex-report for the commands report and annotate. */
int subprogram_main(int argc, char **argv);

#endif /* PERFEX_COMMANDS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Accounts limit what one user costs others. account.c says which account a thread is charged to.
 */
#ifndef PERFCTR_ACCOUNT_H
#define PERFCTR_ACCOUNT_H

#include <linux/types.h>

struct perfctr_account;

/*
 * Charges the caller's account with a config, and with the broadcast that the end of the config
 * will take. Sets *account to the account. Returns 0, -ENOSPC if the user has too many configs, or
 * -EAGAIN if the user must wait before its next broadcast. May sleep.
 */
int perfctr_account_add_config(struct perfctr_account **account);
void perfctr_account_drop_config(struct perfctr_account *account);
/*
 * Charges the caller's account with @nr pages of locked memory. Sets *account to the account.
 * Returns 0, or -ENOMEM if the account would have more than @limit pages. May sleep.
 */
int perfctr_account_add_pages(struct perfctr_account **account, unsigned int nr,
			      unsigned long limit);
void perfctr_account_drop_pages(struct perfctr_account *account, unsigned int nr);

/* Charges the caller's account with @nr broadcasts that were made. May sleep. */
void perfctr_broadcasts_made(unsigned int nr);
/*
 * Waits until the caller may make the next broadcast. Returns 0, or -ERESTARTSYS if a signal comes
 * first.
 */
int perfctr_broadcasts_allow(void);

/* Frees all accounts. Call this when no config is left and no call is in progress. */
void perfctr_account_exit(void);

#endif /* PERFCTR_ACCOUNT_H */

// SPDX-License-Identifier: GPL-2.0
/* What test_meter*.c share; see meter.h. */
#define _GNU_SOURCE
#include <libperfctr.h>

#include <stdarg.h>
#include <string.h>

#include "kit/guest.h"
#include "suites/meter.h"

struct vperfctr_meter *meter_of(const char *events, unsigned int flags)
{
	struct vperfctr_meter *m;
	int err = vperfctr_meter_open(&m, events, flags);

	ck_assert_msg(!err, "%s", vperfctr_strerror(m, err));
	ck_assert_int_eq(err, 0);
	return m;
}

void expect_failure(struct vperfctr_meter *m, int err, int expected, ...)
{
	const char *sentence = vperfctr_strerror(m, err), *word;
	va_list words;

	ck_assert_msg(err == -expected, "%d (%s), expected %s", err, sentence, strerror(expected));
	va_start(words, expected);
	while ((word = va_arg(words, const char *)))
		ck_assert_msg(strstr(sentence, word) != NULL, "no '%s' in: %s", word, sentence);
	va_end(words);
	vperfctr_meter_close(m);
}

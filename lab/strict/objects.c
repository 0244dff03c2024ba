/* SPDX-License-Identifier: MIT */
/*
 * lab/strict/objects.c - what the program has: made by a call, given back by another.
 */
#include <errno.h>
#include <stdlib.h>

#include "strict.h"

static const struct {
	const char *name;
	size_t size;
} kinds[KINDS] = {
	[DEVICE] = { "a device", sizeof(struct device) },
	[PD] = { "a PD", sizeof(struct obj) },
	[REGION] = { "a region", sizeof(struct region) },
	[WINDOW] = { "a window", sizeof(struct obj) },
	[CHANNEL] = { "a completion channel", sizeof(struct obj) },
	[CQ] = { "a CQ", sizeof(struct cq) },
	[SRQ] = { "an SRQ", sizeof(struct qp) },
	[QP] = { "a QP", sizeof(struct qp) },
};
struct objects objects[KINDS];

void *next_of(enum kind kind, void *before)
{
	return before ? LIST_NEXT((struct obj *)before, link)
		      : LIST_FIRST(&objects[kind]);
}

void *find(enum kind kind, const void *key)
{
	LOCKED;
	struct obj *o = NULL;

	while ((o = next_of(kind, o)) && o->key != key)
		;
	return o;
}

void *have(enum kind kind, void *key)
{
	struct obj *o = calloc(1, kinds[kind].size);

	if (!o)
		abort();
	o->kind = kind;
	o->key = key;
	/* All begin with their context. */
	o->ctx = kind == DEVICE ? key : *(struct ibv_context **)key;
	o->made = trace_now();
	LIST_INSERT_HEAD(&objects[kind], o, link);
	return o;
}

static void drop(struct obj *o)
{
	const struct trace now = trace_now();

	if (o->kind == REGION)
		forget_region((struct region *)o, &now);
	if (o->kind == CQ)
		free(((struct cq *)o)->held);
	if (o->kind == QP || o->kind == SRQ) {
		report_not_polled((struct qp *)o, &now);
		give_up((struct qp *)o);
		free(((struct qp *)o)->batch);
	}
	LIST_REMOVE(o, link);
	free(o);
}

void gone(void *obj, int rc)
{
	struct obj *o = obj;

	/* rxe says EINVAL of a region with a window. */
	if (o && (rc == EBUSY || (rc == EINVAL && o->kind == REGION)))
		report("IN-USE", NULL, NULL,
		       "%s is to go while something still uses it",
		       kinds[o->kind].name);
	if (o && rc == 0)
		drop(o);
}

void drop_all(const struct ibv_context *ctx)
{
	for (enum kind k = KINDS; k-- > DEVICE;)
		for (struct obj *o = next_of(k, NULL), *next; o; o = next) {
			next = next_of(k, o);
			if (o->ctx != ctx)
				continue;
			if (k != DEVICE)
				report("NOT-FREED", NULL, &o->made,
				       "%s was made and never given back",
				       kinds[k].name);
			drop(o);
		}
}

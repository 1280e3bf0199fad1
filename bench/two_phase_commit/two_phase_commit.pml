/* SPDX-License-Identifier: Apache-2.0 */
/* Two-phase commit as in machine.py, for Spin: spin -DN=3 -a two_phase_commit.pml
 *
 * A set of resource managers is a bit vector, the usual form of sets in Promela; so is the state of all of them: each is in
 * at most one of prepared, committed and aborted, and works if it is in none. Each step is a d_step, which Spin takes as one
 * transition without states inside, and every process is at the head of its loop between steps: the states stored are those
 * of the problem, neither more nor fewer.
 */

#define EVERYBODY ((1 << N) - 1)
#define ME (1 << _pid)                             /* processes are numbered from 0, resource managers first */
#define WORKING !((prepared | committed | aborted) & ME)

mtype = { undecided, commit, abort }

unsigned prepared : N, committed : N, aborted : N  /* the resource managers in each state */
unsigned prepared_sent : N                         /* who has told of being prepared */
unsigned prepared_known : N                        /* whom the transaction manager knows to be prepared */
mtype decision = undecided
bool commit_sent, abort_sent

active [N] proctype resource_manager() {
	do
	:: d_step { WORKING -> prepared = prepared | ME; prepared_sent = prepared_sent | ME }
	:: d_step { WORKING -> aborted = aborted | ME }
	:: d_step { commit_sent -> committed = committed | ME; prepared = prepared & ~ME; aborted = aborted & ~ME }
	:: d_step { abort_sent -> aborted = aborted | ME; prepared = prepared & ~ME; committed = committed & ~ME }
	/* the arrival of this process's message at the transaction manager: here, because here the sender has a number */
	:: d_step { decision == undecided && (prepared_sent & ME) -> prepared_known = prepared_known | ME }
	od
}

active proctype transaction_manager() {
	do
	:: d_step { decision == undecided && prepared_known == EVERYBODY -> decision = commit; commit_sent = true }
	:: d_step { decision == undecided -> decision = abort; abort_sent = true }
	/* the invariant, looked at in every state: enabled only where it is broken, so it adds neither states nor steps */
	:: d_step { committed && aborted -> assert(false) }
	od
}

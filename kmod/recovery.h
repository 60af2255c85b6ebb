/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HCOMM_RECOVERY_H
#define HCOMM_RECOVERY_H

#include "pure.h"

/**
 * struct hcomm_rtt - round-trip time of a link (RFC 9002 section 5), ns
 * @min: smallest of the last 30 s, without correction
 * @smoothed: moving average
 * @var: mean deviation
 * @latest: last sample
 * @min_stamp: when @min was seen
 * @samples: how many there were
 */
struct hcomm_rtt {
	u64 min;
	u64 smoothed;
	u64 var;
	u64 latest;
	u64 min_stamp;
	u32 samples;
};

/**
 * struct hcomm_cc - congestion window of a link (RFC 9002, RFC 9438, RFC 9406)
 * @cwnd: bytes that may be in flight
 * @ssthresh: slow start ends here
 * @inflight: bytes in flight
 * @mss: bytes of a full packet
 * @recovery_start: losses of packets sent before this are part of the last
 *	reduction
 * @idle_since: when nothing was in flight any more
 * @epoch: when the present cubic began, 0: with the next acknowledgement
 * @w_max: window before the last reduction, bytes
 * @w_est: what Reno would have, bytes
 * @k_ms: time from @epoch to @w_max, ms
 * @cubic_until: until then the two following are good enough, ns
 * @cubic: where the cubic is, bytes
 * @cubic_next: where it will be in a round trip
 * @frac: growth of @cwnd that did not yet make a byte, times @cwnd
 * @est_frac: the same of @w_est
 * @undo_cwnd: window before the last reduction, to take it back; 0: no more
 * @undo_ssthresh: likewise
 * @undo_lost: packets whose loss makes up the last reduction
 * @round_end: HyStart++: end of the round, ns
 * @round_min: its smallest round-trip time
 * @last_min: that of the round before
 * @css_min: smallest round-trip time of the round that began conservative slow
 *	start
 * @round_samples: samples in the round
 * @css_rounds: rounds of conservative slow start left, 0: not in it
 */
struct hcomm_cc {
	u64 cwnd;
	u64 ssthresh;
	u64 inflight;
	u32 mss;
	u64 recovery_start;
	u64 idle_since;
	u64 epoch;
	u64 w_max;
	u64 w_est;
	u32 k_ms;
	u64 cubic_until;
	u64 cubic;
	u64 cubic_next;
	u64 frac;
	u64 est_frac;
	u64 undo_cwnd;
	u64 undo_ssthresh;
	u32 undo_lost;
	u64 round_end;
	u64 round_min;
	u64 last_min;
	u64 css_min;
	u32 round_samples;
	u32 css_rounds;
};

/* Virtual clock: the next byte may leave at @next, ns. */
struct hcomm_pacer {
	u64 next;
};

void hcomm_rtt_init(struct hcomm_rtt *r);
void hcomm_rtt_sample(struct hcomm_rtt *r, u64 now, u64 sample, u64 ack_delay,
		      u64 max_ack_delay);
u64 hcomm_rtt_pto(const struct hcomm_rtt *r, u64 max_ack_delay, u64 floor);
u64 hcomm_rtt_loss_delay(const struct hcomm_rtt *r);

void hcomm_cc_init(struct hcomm_cc *c, u32 mss, u32 initial_packets);
void hcomm_cc_set_mss(struct hcomm_cc *c, u32 mss);
void hcomm_cc_sent(struct hcomm_cc *c, u32 bytes, u64 now);
void hcomm_cc_acked(struct hcomm_cc *c, u64 now, u32 bytes, u64 sent,
		    const struct hcomm_rtt *rtt, bool limited);
void hcomm_cc_lost(struct hcomm_cc *c, u64 now, u32 bytes, u64 sent);
void hcomm_cc_discarded(struct hcomm_cc *c, u32 bytes);
void hcomm_cc_local_drop(struct hcomm_cc *c);
void hcomm_cc_persistent(struct hcomm_cc *c);
void hcomm_cc_undo(struct hcomm_cc *c);
void hcomm_cc_spurious(struct hcomm_cc *c, u32 n);
bool hcomm_cc_may_send(const struct hcomm_cc *c, u32 bytes);
u64 hcomm_cc_room(const struct hcomm_cc *c);
u64 hcomm_cc_pacing_rate(const struct hcomm_cc *c, const struct hcomm_rtt *rtt);

u64 hcomm_pacer_delay(const struct hcomm_pacer *p, u64 now, u64 rate,
		      u64 burst);
void hcomm_pacer_sent(struct hcomm_pacer *p, u64 now, u64 rate, u32 bytes);

#endif /* HCOMM_RECOVERY_H */

/* 64-bit sums of contents, to tell one from another; no protection against somebody who makes two alike. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Every bit of the result depends on every bit of x (the finaliser of Steele, Lea and Flood 2014, "SplitMix"). */
static inline uint64_t hot_fingerprint_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* The sum of what `sum` was of and then these bytes. Four lanes: as fast as memory. */
static inline uint64_t hot_fingerprint_bytes(uint64_t sum, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    uint64_t lane[4], word[4] = {0};
    for (uint64_t i = 0; i < 4; i++)
        lane[i] = hot_fingerprint_mix(sum + i);
    for (size_t left = count; left > 0; left -= left < sizeof word ? left : sizeof word, at += sizeof word) {
        if (left < sizeof word)
            memset(word, 0, sizeof word);
        memcpy(word, at, left < sizeof word ? left : sizeof word);
        for (int i = 0; i < 4; i++) {
            lane[i] = (lane[i] ^ word[i]) * 0x9fb21c651e98df25u;
            lane[i] ^= lane[i] >> 32;
        }
        if (left < sizeof word)
            break;
    }
    return hot_fingerprint_mix(hot_fingerprint_mix(lane[0]) ^ lane[1]) ^
           hot_fingerprint_mix(hot_fingerprint_mix(lane[2] + count) ^ lane[3]);
}

/* What is more fibres than usual in voxels like CSF and grey matter: above what the people of bench/accuracy/people.py
 * show (docs/guides/outputs.md). Of fewer voxels than HOT_MIN_LIKE nothing is said. */
#pragma once

#define HOT_MAX_IN_CSF .3
#define HOT_MAX_TWO_IN_GREY .7
#define HOT_MIN_LIKE 100

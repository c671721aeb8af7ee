/* The unrolled forms of every order in the list, for double and float: hot_form_gradient_4_f64 and so on.
 * To add an order: two lines here. */
#pragma once

#define HOT_SCALAR double
#define HOT_REAL double
#define HOT_COEF double
#define HOT_ORDER 2
#define HOT_FORM(name) hot_form_##name##_2_f64
#include "form3.h"
#undef HOT_ORDER
#undef HOT_FORM
#define HOT_ORDER 4
#define HOT_FORM(name) hot_form_##name##_4_f64
#include "form3.h"
#undef HOT_ORDER
#undef HOT_FORM
#define HOT_ORDER 6
#define HOT_FORM(name) hot_form_##name##_6_f64
#include "form3.h"
#undef HOT_ORDER
#undef HOT_FORM
#define HOT_ORDER 8
#define HOT_FORM(name) hot_form_##name##_8_f64
#include "form3.h"
#undef HOT_ORDER
#undef HOT_FORM
#undef HOT_REAL
#undef HOT_COEF
#undef HOT_SCALAR

#define HOT_SCALAR float
#define HOT_REAL float
#define HOT_COEF float
#define HOT_ORDER 2
#define HOT_FORM(name) hot_form_##name##_2_f32
#include "form3.h"
#undef HOT_ORDER
#undef HOT_FORM
#define HOT_ORDER 4
#define HOT_FORM(name) hot_form_##name##_4_f32
#include "form3.h"
#undef HOT_ORDER
#undef HOT_FORM
#define HOT_ORDER 6
#define HOT_FORM(name) hot_form_##name##_6_f32
#include "form3.h"
#undef HOT_ORDER
#undef HOT_FORM
#define HOT_ORDER 8
#define HOT_FORM(name) hot_form_##name##_8_f32
#include "form3.h"
#undef HOT_ORDER
#undef HOT_FORM
#undef HOT_REAL
#undef HOT_COEF
#undef HOT_SCALAR

/* The common part of VTK's XML files: header, SPACE, and arrays whose samples follow the header as raw bytes
 * ("appended"), which are half the size of text. Each array is preceded by its length in bytes (UInt64). */
#pragma once

#include <stdint.h>
#include <stdio.h>

/* kind: "PolyData" or "ImageData"; what: a few words for the comment. Then comes the kind's own element. */
void hot_vtk_xml_begin(FILE *file, const char *kind, const char *what);
/* The field data that say LPS, inside the kind's element. */
void hot_vtk_xml_space(FILE *file);
/* One array's description; *offset (0 at first) moves on by its bytes. */
void hot_vtk_xml_array(FILE *file, const char *type, const char *name, int components, uint64_t bytes,
                       uint64_t *offset);
/* Closes the kind's element; the arrays' samples follow, each after hot_vtk_xml_length. */
void hot_vtk_xml_appended(FILE *file, const char *kind);
void hot_vtk_xml_length(FILE *file, uint64_t bytes);
void hot_vtk_xml_end(FILE *file);

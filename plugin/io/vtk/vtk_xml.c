#include "vtk_xml.h"

#include <hotfiber/hotfiber.h>

void hot_vtk_xml_begin(FILE *file, const char *kind, const char *what)
{
    const uint16_t one = 1;
    fprintf(file, "<?xml version=\"1.0\"?>\n"
                  "<!-- hotfiber %s: %s, LPS mm -->\n"
                  "<VTKFile type=\"%s\" version=\"1.0\" byte_order=\"%s\" header_type=\"UInt64\">\n",
            hot_version(), what, kind, *(const uint8_t *)&one ? "LittleEndian" : "BigEndian");
}

void hot_vtk_xml_space(FILE *file)
{
    fputs("    <FieldData>\n"
          /* the text LPS, as its character codes */
          "      <Array type=\"String\" Name=\"SPACE\" NumberOfTuples=\"1\" format=\"ascii\">76 80 83 0</Array>\n"
          "    </FieldData>\n", file);
}

void hot_vtk_xml_array(FILE *file, const char *type, const char *name, int components, uint64_t bytes, uint64_t *offset)
{
    fprintf(
        file,
        "        <DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"appended\" offset=\"%llu\"/>\n",
        type, name, components, (unsigned long long)*offset);
    *offset += sizeof bytes + bytes;
}

void hot_vtk_xml_appended(FILE *file, const char *kind)
{
    fprintf(file, "    </Piece>\n  </%s>\n  <AppendedData encoding=\"raw\">\n   _", kind);
}

void hot_vtk_xml_length(FILE *file, uint64_t bytes) { fwrite(&bytes, sizeof bytes, 1, file); }

void hot_vtk_xml_end(FILE *file) { fputs("\n  </AppendedData>\n</VTKFile>\n", file); }

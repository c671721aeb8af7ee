// The panel by Dear ImGui. Each row is made from a row of the table of settings: new settings appear automatically.
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <imgui.h>
#include <new>
#include <unistd.h>

extern "C" {
#include "scene/camera.h"
}
#include "controls_parts.h"

// Headings of the panel: each begins with the setting of this name.
static const struct {
    const char *first, *title;
    bool open;
} sections[] = {{"mode", "View", true},     {"camera", "Camera", false},      {"background", "Image", true},
                {"glyph", "Glyphs", true}, {"canvas", "Canvas and letters", false}};

// Ends of sliders, where those of the table are too far apart to be useful.
static const struct {
    const char *name;
    float low, high;
    bool logarithmic;
} ranges[] = {{"slab", 1, 25, false},         {"zoom", 0.1f, 50, true},          {"scale", 0.1f, 10, true},
              {"stick_width", 0.01f, 0.5f, false}, {"detail", 20, 20480, true}, {"pixel_ratio", 0.5f, 4, false}};

/* ---- Rows ------------------------------------------------------------------------------------------------- */

void note_place(hot_controls *controls, const char *name)
{
    if (controls->count == HOT_CONTROLS_PLACES)
        return;
    hot_controls_place *place = &controls->places[controls->count++];
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    snprintf(place->name, sizeof place->name, "%s", name);
    for (char *letter = place->name; *letter; letter++)
        *letter = *letter == ' ' ? '_' : *letter;
    place->x = low.x;
    place->y = low.y;
    place->width = high.x - low.x;
    place->height = high.y - low.y;
}

void explain(const char *help)
{
    if (!ImGui::IsItemHovered())
        return;
    ImGui::BeginTooltip();
    ImGui::PushTextWrapPos(24 * ImGui::GetFontSize());
    ImGui::TextUnformatted(help);
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
}

template <typename field> static field *at(hot_view_state *state, const hot_view_setting *setting)
{
    return reinterpret_cast<field *>(reinterpret_cast<char *>(state) + setting->offset);
}

static void range_of(const hot_controls *controls, const hot_view_setting *setting, float *low, float *high, bool *log)
{
    const hot_scene *scene = controls->frame->scene;
    *low = float(setting->low);
    *high = float(setting->high);
    *log = false;
    for (const auto &range : ranges)
        if (strcmp(range.name, setting->name) == 0) {
            *low = range.low;
            *high = range.high;
            *log = range.logarithmic;
        }
    if (strcmp(setting->name, "threshold") == 0)
        *high = 2 * float(fmax(scene->order ? scene->typical_radius : 0, scene->max_fibers ? scene->typical_amplitude
                                                                                           : 0));
}

static void number_row(const hot_controls *controls, const hot_view_setting *setting, double *value)
{
    float low, high, shown = float(*value);
    bool log;
    range_of(controls, setting, &low, &high, &log);
    if (ImGui::SliderFloat("##value", &shown, low, fmaxf(high, low + 1e-6f), "%.3g",
                           log ? ImGuiSliderFlags_Logarithmic : 0))
        *value = fmin(fmax(double(shown), setting->low), setting->high); // Ctrl+click enters any number
}

static void int_row(const hot_controls *controls, const hot_view_setting *setting, int *value)
{
    float low, high;
    bool log;
    int shown = *value;
    range_of(controls, setting, &low, &high, &log);
    if (ImGui::SliderInt("##value", &shown, setting->automatic ? 0 : int(low), int(high),
                         shown <= 0 && setting->automatic ? "auto" : "%d", log ? ImGuiSliderFlags_Logarithmic : 0)) {
        char text[32];
        snprintf(text, sizeof text, "%d", shown < int(low) ? int(low) : shown);
        hot_view_setting_parse(controls->frame->scene->context, setting, shown <= 0 ? "auto" : text,
                               controls->frame->state);
    }
}

// The volume of a 4-D image.
static void frame_row(const hot_controls *controls, int *value)
{
    const hot_controls_frame *frame = controls->frame;
    const hot_view_volume *volume = hot_scene_volume(frame->scene, frame->state->background);
    int shown = volume ? int(volume->frame) : 0;
    if (ImGui::SliderInt("##value", &shown, 0, hot_volume_frames(volume) - 1, "%d", ImGuiSliderFlags_AlwaysClamp))
        *value = shown;
}

static void choice_row(hot_controls *controls, const hot_view_setting *setting, int *value)
{
    char now[64], part[64];
    hot_view_setting_print(setting, controls->frame->state, now, sizeof now);
    if (!ImGui::BeginCombo("##value", now))
        return;
    int index = 0;
    for (const char *from = setting->value; *from; index++) {
        const size_t length = strcspn(from, "|");
        snprintf(part, sizeof part, "%.*s", int(length), from);
        if (ImGui::Selectable(part, index == *value))
            *value = index;
        note_place(controls, part);
        from += length + (from[length] == '|');
    }
    ImGui::EndCombo();
}

static void name_row(hot_controls *controls, const hot_view_setting *setting, char *value)
{
    const hot_scene *scene = controls->frame->scene;
    if (!ImGui::BeginCombo("##value", value))
        return;
    for (int v = -2; v < scene->volumes; v++) {
        const char *name = v == -2 ? "auto" : v == -1 ? "none" : scene->volume[v].name;
        if (v == -1 && strcmp(setting->name, "background"))
            continue;
        if (ImGui::Selectable(name, strcmp(name, value) == 0) && strcmp(name, value)) {
            hot_view_state *state = controls->frame->state;
            snprintf(value, HOT_VIEW_NAME, "%s", name);
            if (strcmp(setting->name, "background") == 0)
                state->window[0] = state->window[1] = NAN, state->frame = -1; // of the other volume
            else
                state->color_range[0] = state->color_range[1] = NAN;
        }
        note_place(controls, name);
    }
    ImGui::EndCombo();
}

static void pair_row(const hot_controls *controls, const hot_view_setting *setting, double *value)
{
    const hot_scene *scene = controls->frame->scene;
    const hot_view_state *state = controls->frame->state;
    double window[2] = {0, 1};
    if (strcmp(setting->name, "window")) {
        hot_scene_color_volume(scene, state, window);
    } else if (const hot_view_volume *volume = hot_scene_volume(scene, state->background)) {
        hot_volume_window(volume, state->window, window);
    }
    float shown[2] = {float(window[0]), float(window[1])};
    if (ImGui::DragFloat2("##value", shown, fmaxf(1e-6f, (shown[1] - shown[0]) / 200), 0, 0, "%.4g") &&
        shown[0] < shown[1]) {
        value[0] = double(shown[0]);
        value[1] = double(shown[1]);
    }
}

static void point_row(const hot_controls *controls, double *value)
{
    const hot_scene *scene = controls->frame->scene;
    double ras[3] = {value[0], value[1], value[2]};
    if (std::isnan(ras[0])) {
        const double middle[3] = {(double(scene->grid.size[0]) - 1) / 2, (double(scene->grid.size[1]) - 1) / 2,
                                  (double(scene->grid.size[2]) - 1) / 2};
        hot_scene_to_ras(scene, middle, ras);
    }
    float shown[3] = {float(ras[0]), float(ras[1]), float(ras[2])};
    if (ImGui::DragFloat3("##value", shown, 0.5f, 0, 0, "%.1f"))
        for (int d = 0; d < 3; d++)
            value[d] = double(shown[d]);
}

static void angles_row(double *value)
{
    double degrees[3];
    hot_quaternion_to_angles(value, degrees);
    float shown[3] = {float(degrees[0]), float(degrees[1]), float(degrees[2])};
    if (ImGui::DragFloat3("##value", shown, 1, -360, 360, "%.0f°")) {
        for (int d = 0; d < 3; d++)
            degrees[d] = double(shown[d]);
        hot_quaternion_from_angles(degrees, value);
    }
}

static void rgb_row(double *value)
{
    float shown[3] = {float(value[0]), float(value[1]), float(value[2])};
    if (ImGui::ColorEdit3("##value", shown))
        for (int d = 0; d < 3; d++)
            value[d] = double(shown[d]);
}

static void widget(hot_controls *controls, const hot_view_setting *setting)
{
    hot_view_state *state = controls->frame->state;
    switch (setting->kind) {
    case HOT_SETTING_SWITCH: {
        bool on = *at<int>(state, setting) != 0;
        if (ImGui::Checkbox("##value", &on))
            *at<int>(state, setting) = on;
        break;
    }
    case HOT_SETTING_INT:
        if (strcmp(setting->name, "volume") == 0)
            frame_row(controls, at<int>(state, setting));
        else
            int_row(controls, setting, at<int>(state, setting));
        break;
    case HOT_SETTING_NUMBER: number_row(controls, setting, at<double>(state, setting)); break;
    case HOT_SETTING_CHOICE: choice_row(controls, setting, at<int>(state, setting)); break;
    case HOT_SETTING_NAME: name_row(controls, setting, at<char>(state, setting)); break;
    case HOT_SETTING_PAIR: pair_row(controls, setting, at<double>(state, setting)); break;
    case HOT_SETTING_POINT: point_row(controls, at<double>(state, setting)); break;
    case HOT_SETTING_RGB: rgb_row(at<double>(state, setting)); break;
    case HOT_SETTING_ANGLES: angles_row(at<double>(state, setting)); break;
    case HOT_SETTING_VOXEL: break; // in the coordinate box
    }
}

// A name, its widget, and a button that resets it.
static void setting_row(hot_controls *controls, const hot_view_setting *setting)
{
    char label[64], now[256], usual[256];
    snprintf(label, sizeof label, "%s", setting->name);
    for (char *letter = label; *letter; letter++)
        *letter = *letter == '_' ? ' ' : *letter;
    const float reset = ImGui::GetFrameHeight(), wide = ImGui::GetContentRegionAvail().x;
    ImGui::PushID(setting->name);
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted(label);
    explain(setting->help);
    ImGui::SameLine(0.34f * wide);
    ImGui::SetNextItemWidth(0.66f * wide - reset - ImGui::GetStyle().ItemSpacing.x);
    // a combo's popup has items: the place of the combo comes before theirs
    const int place = controls->count < HOT_CONTROLS_PLACES ? controls->count++ : -1;
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    widget(controls, setting);
    explain(setting->help);
    if (place >= 0) {
        hot_controls_place *made = &controls->places[place];
        snprintf(made->name, sizeof made->name, "%s", setting->name);
        made->x = corner.x;
        made->y = corner.y;
        made->width = setting->kind == HOT_SETTING_SWITCH ? reset
                                                          : 0.66f * wide - reset - ImGui::GetStyle().ItemSpacing.x;
        made->height = reset;
    }
    hot_view_setting_print(setting, controls->frame->state, now, sizeof now);
    hot_view_setting_print(setting, &controls->fresh, usual, sizeof usual);
    if (strcmp(now, usual)) {
        ImGui::SameLine(wide - reset);
        if (ImGui::Button("x", ImVec2(reset, 0)))
            hot_view_setting_parse(controls->frame->scene->context, setting, usual, controls->frame->state);
        char name[64];
        snprintf(name, sizeof name, "reset_%s", setting->name);
        note_place(controls, name);
        explain("back to the default");
    }
    ImGui::PopID();
}

static bool begins_section(const char *name, size_t *index)
{
    for (size_t s = 0; s < sizeof sections / sizeof sections[0]; s++)
        if (strcmp(sections[s].first, name) == 0) {
            *index = s;
            return true;
        }
    return false;
}

bool heading(hot_controls *controls, const char *title, bool open)
{
    const bool shown = ImGui::CollapsingHeader(title, open ? ImGuiTreeNodeFlags_DefaultOpen : 0);
    note_place(controls, title);
    return shown;
}

static void settings_part(hot_controls *controls)
{
    size_t count, section = 0;
    bool shown = false;
    const hot_view_setting *settings = hot_view_settings(&count);
    for (size_t s = 0; s < count; s++) {
        if (begins_section(settings[s].name, &section))
            shown = heading(controls, sections[section].title, sections[section].open);
        const bool elsewhere = settings[s].kind == HOT_SETTING_VOXEL || strcmp(settings[s].name, "slice") == 0;
        const hot_scene *scene = controls->frame->scene;
        const bool useless = strcmp(settings[s].name, "volume") == 0 &&
                             hot_volume_frames(hot_scene_volume(scene, controls->frame->state->background)) < 2;
        if (shown && !elsewhere && !useless)
            setting_row(controls, &settings[s]);
    }
}

/* ---- Position, files ---------------------------------------------------------------------------------------- */

// The crosshair by voxel and by mm.
static void position_part(hot_controls *controls)
{
    const hot_controls_frame *frame = controls->frame;
    const hot_scene *scene = frame->scene;
    double ras[3];
    const double voxel[3] = {double(frame->state->voxel[0]), double(frame->state->voxel[1]),
                             double(frame->state->voxel[2])};
    if (!heading(controls, "Position", true))
        return;
    for (int axis = 0; axis < 3; axis++) {
        const char name[2] = {"ijk"[axis], '\0'};
        ImGui::SetNextItemWidth(-2 * ImGui::GetFontSize());
        ImGui::SliderInt(name, &frame->state->voxel[axis], 0, int(scene->grid.size[axis]) - 1, "%d",
                         ImGuiSliderFlags_AlwaysClamp);
        note_place(controls, name);
    }
    hot_scene_to_ras(scene, voxel, ras);
    float mm[3] = {float(ras[0]), float(ras[1]), float(ras[2])};
    ImGui::SetNextItemWidth(-2 * ImGui::GetFontSize());
    if (ImGui::InputFloat3("mm", mm, "%.2f", ImGuiInputTextFlags_EnterReturnsTrue)) {
        for (int d = 0; d < 3; d++)
            ras[d] = double(mm[d]);
        hot_scene_voxel_at(scene, ras, frame->state->voxel);
    }
    note_place(controls, "mm");
    explain(scene->grid.space == HOT_SPACE_UNKNOWN ? "x, y, z of the file; Enter goes there"
                                                   : "scanner mm, RAS; Enter goes there");
    // of one height, so that nothing below it moves with the pointer
    ImGui::BeginChild("pointer", ImVec2(0, 2 * ImGui::GetTextLineHeightWithSpacing()));
    ImGui::TextWrapped("%s", frame->under_pointer[0] ? frame->under_pointer : "(values under the pointer)");
    ImGui::EndChild();
}

static hot_controls_request button(hot_controls *controls, const char *title, const char *name, const char *help,
                                   hot_controls_request request)
{
    const bool pressed = ImGui::Button(title);
    note_place(controls, name);
    explain(help);
    return pressed ? request : HOT_CONTROLS_NOTHING;
}

static hot_controls_request files_part(hot_controls *controls)
{
    hot_controls_frame *frame = controls->frame;
    int request = HOT_CONTROLS_NOTHING;
    if (heading(controls, "Picture", false)) {
        ImGui::InputText("file##picture", frame->picture, sizeof frame->picture);
        int size[2] = {frame->width, frame->height};
        if (ImGui::InputInt2("pixels", size)) {
            frame->width = size[0] < 1 ? 1 : size[0] > 65536 ? 65536 : size[0];
            frame->height = size[1] < 1 ? 1 : size[1] > 65536 ? 65536 : size[1];
        }
        ImGui::InputInt("dpi", &frame->dpi, 0);
        bool white = frame->white != 0, clear = frame->state->transparent != 0;
        if (ImGui::Checkbox("white paper", &white))
            frame->white = white;
        note_place(controls, "white");
        ImGui::SameLine();
        if (ImGui::Checkbox("transparent", &clear))
            frame->state->transparent = clear;
        request |= button(controls, "Save picture", "save_picture", "writes the view as a PNG",
                          HOT_CONTROLS_SAVE_PICTURE);
        ImGui::Separator();
        ImGui::InputText("movie", frame->movie, sizeof frame->movie);
        note_place(controls, "movie_file");
        explain("FILE.png: one animated PNG, which browsers play; another name: a folder of pictures");
        ImGui::Combo("of", &frame->movie_kind, "auto\0turn\0slices\0volumes\0");
        note_place(controls, "movie_of");
        explain("a full turn in 3-D, the slices of this plane, or the volumes of a 4-D image; auto: a turn in 3-D, "
                "else slices");
        ImGui::InputInt("frames", &frame->movie_frames, 0);
        note_place(controls, "movie_frames");
        explain("0: 36 of a turn, one for each slice or volume");
        ImGui::SliderFloat("frames/s", &frame->movie_rate, 1, 60, "%.0f", ImGuiSliderFlags_AlwaysClamp);
        note_place(controls, "movie_rate");
        request |= button(controls, "Save movie", "save_movie", "draws the frames, of the size above",
                          HOT_CONTROLS_SAVE_MOVIE);
    }
    if (heading(controls, "Settings", false)) {
        ImGui::InputText("file##state", frame->file, sizeof frame->file);
        request |= button(controls, "Save", "save_state", "writes all settings; hotfiber view --state FILE reads them",
                          HOT_CONTROLS_SAVE_STATE);
        ImGui::SameLine();
        request |= button(controls, "Load", "load_state", "reads settings", HOT_CONTROLS_LOAD_STATE);
        ImGui::SameLine();
        request |= button(controls, "Copy command", "copy_command",
                          "copies the command that shows this, for a terminal", HOT_CONTROLS_COPY_COMMAND);
    }
    if (frame->said[0])
        ImGui::TextWrapped("%s", frame->said);
    return hot_controls_request(request);
}

/* ---- Frames --------------------------------------------------------------------------------------------------- */

static const float WIDTH = 330; // desktop units

int hot_controls_width(const hot_controls *controls, const hot_view_state *state, int window_width)
{
    const int width = controls ? int(WIDTH * controls->scale) : 0;
    return state->show_panel && window_width >= width + width / 3 ? width : 0;
}

hot_controls_request hot_controls_draw(hot_controls *controls, hot_controls_frame *frame)
{
    ImGui::SetCurrentContext(controls->gui);
    controls->frame = frame;
    controls->count = 0;
    hot_view_state_default(&controls->fresh);
    ImGui_ImplOpenGL3_NewFrame();
    ImGui_ImplGlfw_NewFrame();
    // of the same event as the buttons: in slow frames the pointer has moved on, and would drag what it has left
    ImGuiIO &io = ImGui::GetIO();
    io.MousePos = frame->pointer[0] < 0 ? ImVec2(-FLT_MAX, -FLT_MAX)
                                        : ImVec2(float(frame->pointer[0]) / io.DisplayFramebufferScale.x,
                                                 float(frame->pointer[1]) / io.DisplayFramebufferScale.y);
    ImGui::NewFrame();
    const float width = float(int(WIDTH * controls->scale)) / io.DisplayFramebufferScale.x;
    ImGui::SetNextWindowPos(ImVec2(io.DisplaySize.x - width, 0));
    ImGui::SetNextWindowSize(ImVec2(width, io.DisplaySize.y));
    ImGui::Begin("panel", nullptr,
                 ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                     ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus);
    ImGui::TextWrapped("%s", frame->scene->title);
    ImGui::TextDisabled("H: keys   Tab: hide this panel");
    int request = button(controls, "Undo", "undo", "takes the last change back (Ctrl+Z)", HOT_CONTROLS_UNDO);
    ImGui::SameLine();
    request |= button(controls, "Redo", "redo", "makes it again (Ctrl+Y)", HOT_CONTROLS_REDO);
    request |= open_part(controls);
    position_part(controls);
    request |= layers_part(controls);
    settings_part(controls);
    request |= files_part(controls);
    ImGui::End();
    ImGui::Render();
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
    return hot_controls_request(request);
}

int hot_controls_places(const hot_controls *controls, const hot_controls_place **places)
{
    *places = controls->places;
    return controls->count;
}

/* ---- Events ------------------------------------------------------------------------------------------------- */

int hot_controls_key(hot_controls *controls, int key, int scancode, int action, int mods)
{
    ImGui::SetCurrentContext(controls->gui);
    if (key == GLFW_KEY_TAB && !ImGui::GetIO().WantTextInput)
        return 0; // would begin to edit the first field
    ImGui_ImplGlfw_KeyCallback(controls->window, key, scancode, action, mods);
    return ImGui::GetIO().WantTextInput;
}

int hot_controls_character(hot_controls *controls, unsigned code)
{
    ImGui::SetCurrentContext(controls->gui);
    ImGui_ImplGlfw_CharCallback(controls->window, code);
    return ImGui::GetIO().WantTextInput;
}

int hot_controls_button(hot_controls *controls, int button, int action, int mods)
{
    ImGui::SetCurrentContext(controls->gui);
    ImGui_ImplGlfw_MouseButtonCallback(controls->window, button, action, mods);
    return ImGui::GetIO().WantCaptureMouse;
}

int hot_controls_wheel(hot_controls *controls, double across, double up)
{
    ImGui::SetCurrentContext(controls->gui);
    ImGui_ImplGlfw_ScrollCallback(controls->window, across, up);
    return ImGui::GetIO().WantCaptureMouse;
}

void hot_controls_focus(hot_controls *controls, int focused)
{
    ImGui::SetCurrentContext(controls->gui);
    ImGui_ImplGlfw_WindowFocusCallback(controls->window, focused);
}

void hot_controls_enter(hot_controls *controls, GLFWwindow *window, int entered)
{
    ImGui::SetCurrentContext(controls->gui);
    ImGui_ImplGlfw_CursorEnterCallback(window, entered);
}

/* ---- Creation ----------------------------------------------------------------------------------------------- */

hot_controls *hot_controls_create(GLFWwindow *window, double scale)
{
    static const char *const fonts[] = {"/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
                                        "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf"};
    hot_controls *made = new (std::nothrow) hot_controls();
    if (!made)
        return nullptr;
    made->scale = scale;
    made->window = window;
    made->gui = ImGui::CreateContext();
    ImGui::SetCurrentContext(made->gui);
    ImGuiIO &io = ImGui::GetIO();
    io.IniFilename = nullptr; // Dear ImGui would write one
    io.ConfigFlags |= ImGuiConfigFlags_NoMouseCursorChange;
    ImFont *font = nullptr;
    for (const char *path : fonts)
        if (!font && access(path, R_OK) == 0)
            font = io.Fonts->AddFontFromFileTTF(path, float(13 * scale));
    if (!font) // ImGui's own, of fixed size
        io.FontGlobalScale = float(scale);
    ImGui::StyleColorsDark();
    ImGui::GetStyle().ScaleAllSizes(float(scale));
    ImGui::GetStyle().WindowRounding = 0;
    if (ImGui_ImplGlfw_InitForOpenGL(window, false) && ImGui_ImplOpenGL3_Init("#version 330"))
        return made;
    ImGui::DestroyContext(made->gui);
    delete made;
    return nullptr;
}

void hot_controls_destroy(hot_controls *controls)
{
    if (!controls)
        return;
    ImGui::SetCurrentContext(controls->gui);
    ImGui_ImplOpenGL3_Shutdown();
    ImGui_ImplGlfw_Shutdown();
    ImGui::DestroyContext(controls->gui);
    delete controls;
}

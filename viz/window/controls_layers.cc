// The panel's files and list of layers.
#include <cmath>
#include <cstdio>
#include <cstring>

#include "controls_parts.h"

extern "C" {
#include "scene/lines.h"
}

static void note_layer(hot_controls *controls, const char *what, int number)
{
    char name[64];
    snprintf(name, sizeof name, "layer%d_%s", number, what);
    note_place(controls, name);
}

static bool choose(hot_controls *controls, const char *label, const char *choices, int number, int *value)
{
    char part[64];
    int index = 0;
    bool changed = false;
    const char *now = choices;
    for (int skip = 0; skip < *value; skip++)
        now += strcspn(now, "|") + 1;
    snprintf(part, sizeof part, "%.*s", int(strcspn(now, "|")), now);
    const bool open = ImGui::BeginCombo(label, part);
    note_layer(controls, label, number);
    if (!open)
        return false;
    for (const char *from = choices; *from; index++) {
        const size_t length = strcspn(from, "|");
        snprintf(part, sizeof part, "%.*s", int(length), from);
        if (ImGui::Selectable(part, index == *value)) {
            *value = index;
            changed = true;
        }
        note_place(controls, part);
        from += length + (from[length] == '|');
    }
    ImGui::EndCombo();
    return changed;
}

// Window, threshold, colour map, blending of an image.
static void image_rows(hot_controls *controls, hot_view_layer *layer, const hot_view_volume *volume, int number)
{
    double window[2];
    hot_layer_window(volume, layer, window);
    float shown[2] = {float(window[0]), float(window[1])}, speed = fmaxf(1e-6f, (shown[1] - shown[0]) / 200);
    if (volume->components == 1) {
        choose(controls, "colormap", HOT_COLORMAPS, number, &layer->colormap);
        if (ImGui::DragFloat2("min, max", shown, speed, 0, 0, "%.4g") && shown[0] < shown[1])
            for (int end = 0; end < 2; end++)
                layer->window[end] = double(shown[end]);
        note_layer(controls, "window", number);
    }
    float threshold = std::isnan(layer->threshold) ? 0 : float(layer->threshold);
    if (ImGui::DragFloat("threshold", &threshold, speed, 0, 0, std::isnan(layer->threshold) ? "none" : "%.4g"))
        layer->threshold = double(threshold);
    note_layer(controls, "threshold", number);
    explain("smaller values are left out");
    choose(controls, "blend", "over|add", number, &layer->blend);
    bool outline = layer->outline != 0;
    if (ImGui::Checkbox("outline", &outline))
        layer->outline = outline;
    note_layer(controls, "outline", number);
    explain("only the edges of a mask, or of labels");
}

// Directions, and sets in a separate pane.
static void line_rows(hot_controls *controls, hot_view_layer *layer, int number)
{
    const hot_lines *lines = hot_scene_layer_lines(controls->frame->scene, layer);
    if (layer->beside || (lines && lines->typical > 0)) {
        bool beside = layer->beside != 0;
        if (ImGui::Checkbox("in a separate pane", &beside))
            layer->beside = beside;
        note_layer(controls, "beside", number);
        explain("side by side with the first set, with the same camera, crosshair and slice");
    }
    if (!lines || lines->typical > 0) {
        float threshold = std::isnan(layer->threshold) ? 0 : float(layer->threshold);
        if (ImGui::DragFloat("threshold", &threshold, 0.005f, 0, 0,
                             std::isnan(layer->threshold) ? "none" : "%.4g"))
            layer->threshold = fmax(0, double(threshold));
        note_layer(controls, "threshold", number);
        explain("shorter directions are left out");
    }
    if (layer->beside)
        return;
    float color[3] = {float(layer->color[0]), float(layer->color[1]), float(layer->color[2])};
    if (ImGui::ColorEdit3("color", color)) {
        layer->color_set = layer->constant = 1;
        for (int d = 0; d < 3; d++)
            layer->color[d] = double(color[d]);
    }
    note_layer(controls, "color", number);
    bool direction = layer->color_set && !layer->constant;
    if (ImGui::Checkbox("by direction", &direction)) {
        layer->color_set = 1;
        layer->constant = !direction;
    }
    note_layer(controls, "direction", number);
}

// A button of a layer's first line.
static bool small_button(hot_controls *controls, const char *label, const char *what, int number, const char *help)
{
    ImGui::SameLine();
    const bool pressed = ImGui::SmallButton(label);
    note_layer(controls, what, number);
    explain(help);
    return pressed;
}

// Returns the layer's new place: `number`, one more or less, or -1 if it is removed.
static int layer_rows(hot_controls *controls, int number)
{
    const hot_controls_frame *frame = controls->frame;
    hot_view_layer *layer = &frame->state->layer[number];
    const hot_view_volume *volume = hot_scene_layer_volume(frame->scene, layer);
    const char *slash = strrchr(layer->source, '/');
    bool visible = layer->visible != 0;
    int place = number;
    if (ImGui::Checkbox(slash ? slash + 1 : layer->source, &visible))
        layer->visible = visible;
    note_layer(controls, "visible", number);
    explain(layer->source);
    if (small_button(controls, "up", "up", number, "draws it above the next") &&
        number + 1 < frame->state->layers)
        place = number + 1;
    if (small_button(controls, "down", "down", number, "draws it below the one before") && number > 0)
        place = number - 1;
    if (small_button(controls, "remove", "remove", number, "takes it out of the view"))
        place = -1;
    ImGui::PushItemWidth(0.6f * ImGui::GetContentRegionAvail().x);
    float opacity = float(layer->opacity);
    if (!layer->beside && ImGui::SliderFloat("opacity", &opacity, 0, 1, "%.2f", ImGuiSliderFlags_AlwaysClamp))
        layer->opacity = double(opacity);
    if (!layer->beside)
        note_layer(controls, "opacity", number);
    if (volume)
        image_rows(controls, layer, volume, number);
    else
        line_rows(controls, layer, number);
    ImGui::PopItemWidth();
    return place;
}

static void move_layer(hot_view_state *state, int from, int to)
{
    const hot_view_layer moved = state->layer[from];
    if (to >= 0) {
        state->layer[from] = state->layer[to];
        state->layer[to] = moved;
        return;
    }
    for (int n = from; n + 1 < state->layers; n++)
        state->layer[n] = state->layer[n + 1];
    memset(&state->layer[--state->layers], 0, sizeof moved);
}

// Sources that can be added without typing: images of the scene, and maps of the run.
static bool offer(hot_controls *controls, const char *name)
{
    hot_controls_frame *frame = controls->frame;
    const bool chosen = ImGui::Selectable(name, false);
    char place[64];
    snprintf(place, sizeof place, "offer_%s", name);
    note_place(controls, place);
    if (chosen)
        snprintf(frame->layer, sizeof frame->layer, "%s", name);
    return chosen;
}

hot_controls_request layers_part(hot_controls *controls)
{
    hot_controls_frame *frame = controls->frame;
    bool add = false;
    if (!heading(controls, "Layers", true))
        return HOT_CONTROLS_NOTHING;
    for (int n = frame->state->layers - 1, place; n >= 0; n--) { // the topmost first
        ImGui::PushID(n);
        place = layer_rows(controls, n);
        ImGui::PopID();
        if (place != n) {
            move_layer(frame->state, n, place);
            break;
        }
    }
    ImGui::SetNextItemWidth(-10 * ImGui::GetFontSize());
    add = ImGui::InputTextWithHint("##layer", "image or directions", frame->layer, sizeof frame->layer,
                                   ImGuiInputTextFlags_EnterReturnsTrue);
    note_place(controls, "layer_file");
    ImGui::SameLine();
    add |= ImGui::SmallButton("add");
    note_place(controls, "layer_add");
    explain("opens it over what is shown; as --overlay: FILE,opacity=0.5,...");
    ImGui::SameLine();
    const bool beside = ImGui::SmallButton("beside");
    note_place(controls, "layer_beside");
    explain("opens directions or tensors in a separate pane, side by side with the first");
    ImGui::SameLine();
    const bool open = ImGui::BeginCombo("##offers", "", ImGuiComboFlags_NoPreview);
    note_place(controls, "layer_offers");
    if (open) {
        for (int v = 0; v < frame->scene->volumes; v++)
            add |= offer(controls, frame->scene->volume[v].name);
        const char *name;
        for (int m = 0; (name = hot_scene_map(frame->scene, m)); m++)
            add |= offer(controls, name);
        ImGui::EndCombo();
    }
    if (beside && frame->layer[0])
        return HOT_CONTROLS_ADD_BESIDE;
    return add && frame->layer[0] ? HOT_CONTROLS_ADD_LAYER : HOT_CONTROLS_NOTHING;
}

hot_controls_request open_part(hot_controls *controls)
{
    hot_controls_frame *frame = controls->frame;
    bool open = false;
    if (!heading(controls, "Open", false))
        return HOT_CONTROLS_NOTHING;
    ImGui::SetNextItemWidth(-4 * ImGui::GetFontSize());
    open = ImGui::InputTextWithHint("##open", "file, or folder of a run", frame->open, sizeof frame->open,
                                    ImGuiInputTextFlags_EnterReturnsTrue);
    note_place(controls, "open_file");
    ImGui::SameLine();
    open |= ImGui::SmallButton("open");
    note_place(controls, "open");
    for (int n = 0; n < frame->recent->count; n++) {
        const char *entry = frame->recent->entry[n], *tab = strchr(entry, '\t'), *name = entry;
        for (const char *at = entry; *at && at != tab; at++)
            name = *at == '/' && at[1] ? at + 1 : name;
        char label[300], place[32];
        snprintf(label, sizeof label, "%.*s%s##%d", int(tab ? tab - name : ptrdiff_t(strlen(name))), name,
                 tab ? " ..." : "", n);
        if (ImGui::Selectable(label, false)) {
            snprintf(frame->open, sizeof frame->open, "%s", entry);
            open = true;
        }
        snprintf(place, sizeof place, "recent%d", n);
        note_place(controls, place);
        explain(entry);
    }
    return open && frame->open[0] ? HOT_CONTROLS_OPEN : HOT_CONTROLS_NOTHING;
}

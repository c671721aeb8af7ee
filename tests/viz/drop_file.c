/* drop_file WINDOW PATH...: drags files over an X window and drops them, like a file manager (XDND protocol, version 5:
 * freedesktop.org/wiki/Specifications/XDND), which xdotool cannot do. Exit status 0 if the window accepts them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <X11/Xatom.h>
#include <X11/Xlib.h>

enum { ENTER, POSITION, STATUS, DROP, FINISHED, SELECTION, LIST, COPY, ATOMS };
static char *names[ATOMS] = {"XdndEnter", "XdndPosition", "XdndStatus", "XdndDrop", "XdndFinished", "XdndSelection",
                             "text/uri-list", "XdndActionCopy"};

static void tell(Display *display, Window target, Atom what, Window source, const long data[4])
{
    XEvent event = {0};
    event.xclient.type = ClientMessage;
    event.xclient.window = target;
    event.xclient.message_type = what;
    event.xclient.format = 32;
    event.xclient.data.l[0] = (long)source;
    for (int i = 0; i < 4; i++)
        event.xclient.data.l[i + 1] = data[i];
    XSendEvent(display, target, False, NoEventMask, &event);
    XFlush(display);
}

int main(int argc, char **argv)
{
    Atom atoms[ATOMS];
    char list[8192] = "";
    Display *display = XOpenDisplay(NULL);
    if (argc < 3 || !display)
        return 2;
    const Window target = strtoul(argv[1], NULL, 0);
    const Window source = XCreateSimpleWindow(display, DefaultRootWindow(display), 0, 0, 1, 1, 0, 0, 0);
    XInternAtoms(display, names, ATOMS, False, atoms);
    for (int i = 2; i < argc; i++) { /* a URI has no blanks */
        size_t used = strlen(list);
        used += (size_t)snprintf(list + used, sizeof list - used, "file://");
        for (const char *c = argv[i]; *c && used + 8 < sizeof list; c++)
            used += (size_t)snprintf(list + used, sizeof list - used, *c == ' ' ? "%%20" : "%c", *c);
        snprintf(list + used, sizeof list - used, "\r\n");
    }
    XSetSelectionOwner(display, atoms[SELECTION], source, CurrentTime);
    const long place = 100L << 16 | 100;
    tell(display, target, atoms[ENTER], source, (const long[4]){5L << 24, (long)atoms[LIST], 0, 0});
    tell(display, target, atoms[POSITION], source, (const long[4]){0, place, CurrentTime, (long)atoms[COPY]});
    for (int dropped = 0;;) {
        XEvent event;
        XNextEvent(display, &event);
        if (event.type == ClientMessage && event.xclient.message_type == atoms[STATUS] && !dropped) {
            if (!(event.xclient.data.l[1] & 1)) {
                puts("the window takes no files");
                return 1;
            }
            tell(display, target, atoms[DROP], source, (const long[4]){0, CurrentTime, 0, 0});
            dropped = 1;
        } else if (event.type == SelectionRequest) {
            const XSelectionRequestEvent *asked = &event.xselectionrequest;
            XEvent answer = {0};
            XChangeProperty(display, asked->requestor, asked->property, asked->target, 8, PropModeReplace,
                            (const unsigned char *)list, (int)strlen(list));
            answer.xselection.type = SelectionNotify;
            answer.xselection.requestor = asked->requestor;
            answer.xselection.selection = asked->selection;
            answer.xselection.target = asked->target;
            answer.xselection.property = asked->property;
            answer.xselection.time = asked->time;
            XSendEvent(display, asked->requestor, False, NoEventMask, &answer);
            XFlush(display);
        } else if (event.type == ClientMessage && event.xclient.message_type == atoms[FINISHED]) {
            XCloseDisplay(display);
            return 0;
        }
    }
}

/* Register tiles for products of dense items of any shape, one after another as a program says: contract_dense.h.
 *
 * In assembly because compilers move sums between registers, and addresses between registers and stack, which short
 * sums do not hide: over random shapes libxsmm takes 1.07 of the time of these tiles in the median, and 1.01 of that
 * of the tiles in C (contract_tile.h), which hot_tile.plain selects and tests compare with these.
 *
 * Registers. rdi: the current step of the program. rsi, rdx, rcx: A, B and C of the tile. r8, r9, r11: bytes from row
 * to row of them; r10 = 3 r9. Within a tile rax and rbx point to a row of B and its last vector, rbp counts, and r12
 * ... r15 point to every third row of A; then rax is a row of C and rbx the bytes from there to its last vector. r15
 * holds the flags if it is not needed for rows. k1, or with AVX2 vector 2, is the mask of a partial vector.
 * Vectors: a row of B from 0 on, then a factor, then the sums from `first` on. */
#if defined(__x86_64__) && defined(__ELF__)
    .intel_syntax noprefix
    .altmacro
    .text

/* hot_dense_step */
#define STEP_A 8 /* to the next step's tile */
#define STEP_B 16
#define STEP_C 24
#define STEP_LAST 32
#define STEP_BYTES 40

/* hot_dense, and on the stack while tiles run */
#define FOURS 0 /* four steps so many times */
#define FLAGS 8
#define ITEMS 16
#define PROGRAM 24
#define ALPHA 32
#define BETA 40
#define FRAME 48
#define JOB_A 48
#define JOB_B 56
#define JOB_C 64
#define JOB_A_ROW 72
#define JOB_B_ROW 80
#define JOB_C_ROW 88
#define JOB_MASK 96
#define JOB_LANES 104

/* Flags: one step, two steps more than the fours; other than C += A B; C is read then. */
#define ONE 1
#define TWO 2
#define OTHER 4
#define READS 8

/* `before` [the u-th row of B from base on] */
.macro on_b before, base, disp, u
    .if \u == 0
        \before [\base + \disp]
    .elseif \u == 1
        \before [\base + r9 + \disp]
    .elseif \u == 2
        \before [\base + r9 * 2 + \disp]
    .else
        \before [\base + r10 + \disp]
    .endif
.endm

/* `before` [the third-th of three rows, `stride` apart] `behind` */
.macro on_third before, base, stride, disp, third, behind
    .if \third == 0
        \before [\base + \disp] \behind
    .elseif \third == 1
        \before [\base + \stride + \disp] \behind
    .else
        \before [\base + \stride * 2 + \disp] \behind
    .endif
.endm

/* part: 0 = whole vectors, 1 = the lanes of the mask, 2 = 8 bytes, 3 = 4 bytes. */
.macro load_b fp, x, n, base, disp, u, part
    .if \part == 0
        on_b <vmovu\fp \x\n,>, \base, \disp, \u
    .elseif \part == 2
        on_b <vmovsd \x\n, qword ptr>, \base, \disp, \u
    .elseif \part == 3
        on_b <vmovss \x\n, dword ptr>, \base, \disp, \u
    .elseif evex
        on_b <vmovu\fp \x\n{k1}{z},>, \base, \disp, \u
    .else
        on_b <vmaskmov\fp \x\n, \x\()2,>, \base, \disp, \u
    .endif
.endm

.macro load_c fp, x, n, at, part
    .if \part == 0
        vmovu\fp \x\n, [\at]
    .elseif \part == 2
        vmovsd \x\n, qword ptr [\at]
    .elseif \part == 3
        vmovss \x\n, dword ptr [\at]
    .elseif evex
        vmovu\fp \x\n{k1}{z}, [\at]
    .else
        vmaskmov\fp \x\n, \x\()2, [\at]
    .endif
.endm

.macro store_c fp, x, n, at, part
    .if \part == 0
        vmovu\fp [\at], \x\n
    .elseif \part == 2
        vmovsd qword ptr [\at], \x\n
    .elseif \part == 3
        vmovss dword ptr [\at], \x\n
    .elseif evex
        vmovu\fp [\at]{k1}, \x\n
    .else
        vmaskmov\fp [\at], \x\()2, \x\n
    .endif
.endm

.macro fma fp, x, sum, factor, row
    vfmadd231\fp \x\sum, \x\factor, \x\row
.endm
.macro times fp, x, sum, factor
    vmul\fp \x\sum, \x\sum, \x\factor
.endm
.macro plus fp, x, sum, other
    vadd\fp \x\sum, \x\sum, \x\other
.endm
/* (the narrow name clears the whole register; of the upper sixteen only the wide one exists everywhere) */
.macro zero n
    .if \n < 16
        vxorps xmm\n, xmm\n, xmm\n
    .else
        vpxord zmm\n, zmm\n, zmm\n
    .endif
.endm

/* A factor to all lanes of vector n. */
.macro spread fp, x, n, base, disp, third
    .if (width == 16) && (bytes == 8)
        on_third <vmovddup \x\n, qword ptr>, \base, r8, \disp, \third
    .elseif bytes == 8
        on_third <vbroadcastsd \x\n, qword ptr>, \base, r8, \disp, \third
    .else
        on_third <vbroadcastss \x\n, dword ptr>, \base, r8, \disp, \third
    .endif
.endm

.macro fma_spread fp, x, n, base, disp, third
    .if (bytes == 8) && (width == 64)
        on_third <vfmadd231pd \x\n, \x\()0, qword ptr>, \base, r8, \disp, \third, <{1to8}>
    .elseif (bytes == 8) && (width == 32)
        on_third <vfmadd231pd \x\n, \x\()0, qword ptr>, \base, r8, \disp, \third, <{1to4}>
    .elseif bytes == 8
        on_third <vfmadd231pd \x\n, \x\()0, qword ptr>, \base, r8, \disp, \third, <{1to2}>
    .elseif width == 64
        on_third <vfmadd231ps \x\n, \x\()0, dword ptr>, \base, r8, \disp, \third, <{1to16}>
    .elseif width == 32
        on_third <vfmadd231ps \x\n, \x\()0, dword ptr>, \base, r8, \disp, \third, <{1to8}>
    .else
        on_third <vfmadd231ps \x\n, \x\()0, dword ptr>, \base, r8, \disp, \third, <{1to4}>
    .endif
.endm

/* One row of the tile in step u: row r of A. */
.macro row_step fp, x, base, r, u
    .if evex && (vectors == 1)
        fma_spread \fp, \x, %(set + \r), \base, %(\u * bytes), %(\r % 3)
    .else
        spread \fp, \x, %(factor), \base, %(\u * bytes), %(\r % 3)
        vector = 0
        .rept vectors
            fma \fp, \x, %(set + \r * vectors + vector), %(factor), %(vector)
            vector = vector + 1
        .endr
    .endif
.endm

/* Step u: a row of B, all of it to every row of the tile. */
.macro step fp, x, u, part
    vector = 0
    .rept vectors
        .if (vector > 0) && (vector == vectors - 1)
            load_b \fp, \x, %(vector), rbx, 0, \u, \part
        .else
            load_b \fp, \x, %(vector), rax, %(vector * width), \u, \part
        .endif
        vector = vector + 1
    .endr
    row = 0
    .rept rows
        .if row < 3
            row_step \fp, \x, r12, %(row), \u
        .elseif row < 6
            row_step \fp, \x, r13, %(row), \u
        .elseif row < 9
            row_step \fp, \x, r14, %(row), \u
        .else
            row_step \fp, \x, r15, %(row), \u
        .endif
        row = row + 1
    .endr
.endm

/* All of C: what = 0 loads it into the sums, 1 adds beta (vector `factor`) times it, 2 adds it, 3 stores them. */
.macro meet_vector fp, x, sum, at, part, what
    .if \what == 0
        load_c \fp, \x, \sum, <\at>, \part
    .elseif \what == 3
        store_c \fp, \x, \sum, <\at>, \part
    .else
        load_c \fp, \x, 0, <\at>, \part
        .if \what == 1
            fma \fp, \x, \sum, %(factor), 0
        .else
            plus \fp, \x, \sum, 0
        .endif
    .endif
.endm
.macro meet_row fp, x, base, part, what
    vector = 0
    .rept vectors
        .if (vector > 0) && (vector == vectors - 1)
            meet_vector \fp, \x, %(first + row * vectors + vector), <\base + rbx>, \part, \what
        .else
            meet_vector \fp, \x, %(first + row * vectors + vector), <\base + vector * width>, \part, \what
        .endif
        vector = vector + 1
    .endr
.endm
.macro meet fp, x, part, what
    row = 0
    .rept rows
        .if row == 0
            meet_row \fp, \x, rcx, \part, \what
            .if (vectors > 1) && (rows > 1)
                lea rax, [rcx + r11]
            .endif
        .elseif vectors > 1
            meet_row \fp, \x, rax, \part, \what
            .if row < rows - 1
                add rax, r11
            .endif
        .elseif row == 1
            meet_row \fp, \x, <rcx + r11>, \part, \what
        .elseif row == 2
            meet_row \fp, \x, <rcx + r11 * 2>, \part, \what
        .elseif row % 3 == 0
            meet_row \fp, \x, rax, \part, \what
        .elseif row % 3 == 1
            meet_row \fp, \x, <rax + r11>, \part, \what
        .else
            meet_row \fp, \x, <rax + r11 * 2>, \part, \what
        .endif
        .if (vectors == 1) && (row % 3 == 2) && (row < rows - 1)
            .if row == 2
                lea rax, [rcx + r11 * 2]
            .else
                lea rax, [rax + r11 * 2]
            .endif
            add rax, r11
        .endif
        row = row + 1
    .endr
.endm

/* Whether a flag is set. */
.macro flag bit
    .if rows > 9
        test byte ptr [rsp + FLAGS], \bit
    .else
        test r15b, \bit
    .endif
.endm

.macro on steps
    add r12, \steps * bytes
    .if rows > 3
        add r13, \steps * bytes
    .endif
    .if rows > 6
        add r14, \steps * bytes
    .endif
    .if rows > 9
        add r15, \steps * bytes
    .endif
    .if \steps == 1
        add rax, r9
        .if vectors > 1
            add rbx, r9
        .endif
    .else
        lea rax, [rax + r9 * \steps]
        .if vectors > 1
            lea rbx, [rbx + r9 * \steps]
        .endif
    .endif
.endm

.macro alone fp, x, n, disp
    .if (width == 16) && (bytes == 8)
        vmovddup \x\n, qword ptr [rsp + \disp]
    .elseif bytes == 8
        vbroadcastsd \x\n, qword ptr [rsp + \disp]
    .else
        vbroadcastss \x\n, dword ptr [rsp + \disp]
    .endif
.endm

/* A tile. sets: so many sums of each value, or the multiplications would wait for one another. */
.macro tile name, fp, x, n_rows, n_vectors, part, sets
    .p2align 5
\name:
    rows = \n_rows
    vectors = \n_vectors
    factor = vectors
    .if evex
        first = vectors + 1
    .elseif vectors == 1
        first = 3
        factor = 1
    .else
        first = vectors + 1
    .endif
    sums = rows * vectors
    .if rows <= 9
        mov r15d, [rsp + FLAGS]
    .endif
    .if vectors > 1
        mov rbx, [rdi + STEP_LAST]
    .endif
    .if \part != 1
        flag OTHER
        jnz 9f
        meet \fp, \x, \part, 0
    .else
        number = 0
        .rept sums
            zero %(first + number)
            number = number + 1
        .endr
    .endif
2:
    number = sums
    .rept sums * (\sets - 1)
        zero %(first + number)
        number = number + 1
    .endr
    mov r12, rsi
    mov rax, rdx
    .if rows > 3
        lea r13, [rsi + r8 * 2]
        add r13, r8
    .endif
    .if rows > 6
        lea r14, [r13 + r8 * 2]
        add r14, r8
    .endif
    .if rows > 9
        lea r15, [r14 + r8 * 2]
        add r15, r8
    .endif
    .if vectors > 1
        add rbx, rax
    .endif
    mov rbp, [rsp + FOURS]
    test rbp, rbp
    jz 4f
3:
    ahead = 0
    .rept 4
        set = first + (ahead % \sets) * sums
        step \fp, \x, %(ahead), \part
        ahead = ahead + 1
    .endr
    on 4
    dec rbp
    jnz 3b
    number = sums
    .rept sums * (\sets - 1)
        plus \fp, \x, %(first + (number % sums)), %(first + number)
        number = number + 1
    .endr
4:
    set = first
    flag TWO
    jz 5f
    step \fp, \x, 0, \part
    step \fp, \x, 1, \part
    on 2
5:
    flag ONE
    jz 6f
    step \fp, \x, 0, \part
6:
    .if vectors > 1
        mov rbx, [rdi + STEP_LAST]
    .endif
    flag OTHER
    jnz 8f
    .if \part == 1
        meet \fp, \x, \part, 2
    .endif
7:
    meet \fp, \x, \part, 3
    add rsi, [rdi + STEP_A]
    add rdx, [rdi + STEP_B]
    add rcx, [rdi + STEP_C]
    add rdi, STEP_BYTES
    jmp [rdi]
8:
    alone \fp, \x, %(factor), ALPHA
    number = 0
    .rept sums
        times \fp, \x, %(first + number), %(factor)
        number = number + 1
    .endr
    alone \fp, \x, %(factor), BETA
    flag READS
    jz 7b
    meet \fp, \x, \part, 1
    jmp 7b
    .if \part != 1
9:
        number = 0
        .rept sums
            zero %(first + number)
            number = number + 1
        .endr
        jmp 2b
    .endif
.endm

/* The address of a tile in the table. */
.macro entry name
    .section .data.rel.ro, "aw"
    .quad \name
    .text
.endm

.macro one_tile name, fp, x, part, sets, n_rows, n_vectors
    tile \name, \fp, \x, \n_rows, \n_vectors, \part, \sets
    entry \name
.endm

.macro named type, fp, x, isa, part, sets, n_rows, n_vectors
    one_tile .L\isa\()\type\()\x\()\part\()_\sets\()_\n_rows\()_\n_vectors, \fp, \x, \part, \sets, \n_rows, \
        \n_vectors
.endm

.macro heights type, fp, x, isa, part, sets, n_vectors, most
    height = 1
    .rept \most
        named \type, \fp, \x, \isa, \part, \sets, %(height), \n_vectors
        height = height + 1
    .endr
.endm

/* Starts a program: rdi = its hot_dense. */
.macro begin isa
    .globl hot_contract_dense_run_\isa
    .hidden hot_contract_dense_run_\isa
    .type hot_contract_dense_run_\isa, @function
    .p2align 4
hot_contract_dense_run_\isa:
    .cfi_startproc
    push rbx
    .cfi_def_cfa_offset 16
    .cfi_offset rbx, -16
    push rbp
    .cfi_def_cfa_offset 24
    .cfi_offset rbp, -24
    push r12
    .cfi_def_cfa_offset 32
    .cfi_offset r12, -32
    push r13
    .cfi_def_cfa_offset 40
    .cfi_offset r13, -40
    push r14
    .cfi_def_cfa_offset 48
    .cfi_offset r14, -48
    push r15
    .cfi_def_cfa_offset 56
    .cfi_offset r15, -56
    sub rsp, FRAME
    .cfi_def_cfa_offset 56 + FRAME
    number = 0
    .rept FRAME / 16
        vmovups xmm0, [rdi + number]
        vmovups [rsp + number], xmm0
        number = number + 16
    .endr
    mov rsi, [rdi + JOB_A]
    mov rdx, [rdi + JOB_B]
    mov rcx, [rdi + JOB_C]
    mov r8, [rdi + JOB_A_ROW]
    mov r9, [rdi + JOB_B_ROW]
    mov r11, [rdi + JOB_C_ROW]
    lea r10, [r9 + r9 * 2]
    .if evex
        mov eax, [rdi + JOB_MASK]
        kmovw k1, eax
    .else
        mov rax, [rdi + JOB_LANES]
        vmovups ymm2, [rax]
    .endif
    mov rdi, [rsp + PROGRAM]
    jmp [rdi]
/* The end of every program: the next item. */
.Lnext_\isa:
    mov rdi, [rsp + PROGRAM]
    dec qword ptr [rsp + ITEMS]
    jz 1f
    jmp [rdi]
1:
    add rsp, FRAME
    .cfi_def_cfa_offset 56
    pop r15
    pop r14
    pop r13
    pop r12
    pop rbp
    pop rbx
    .cfi_def_cfa_offset 8
    vzeroupper
    ret
    .cfi_endproc
    .size hot_contract_dense_run_\isa, . - hot_contract_dense_run_\isa
    .section .data.rel.ro, "aw"
    .globl hot_contract_dense_tiles_\isa
    .hidden hot_contract_dense_tiles_\isa
    .p2align 4
hot_contract_dense_tiles_\isa:
    .quad .Lnext_\isa
    .text
.endm

/* In the order of hot_dense_tiles. */
.macro parts type, fp, x, isa, part, max_1, max_split
    heights \type, \fp, \x, \isa, \part, 1, 1, \max_1
    heights \type, \fp, \x, \isa, \part, 2, 1, \max_split
.endm
.macro pairs type, fp, x, isa, max_2
    heights \type, \fp, \x, \isa, 0, 1, 2, \max_2
    heights \type, \fp, \x, \isa, 0, 2, 2, 3
.endm
.macro wide type, fp, x, isa, max_2, max_3, max_4
    pairs \type, \fp, \x, \isa, \max_2
    heights \type, \fp, \x, \isa, 0, 1, 3, \max_3
    heights \type, \fp, \x, \isa, 0, 2, 3, 2
    heights \type, \fp, \x, \isa, 0, 1, 4, \max_4
    heights \type, \fp, \x, \isa, 0, 2, 4, 1
.endm

/* In the order of contract_dense.c. */
.macro all type, fp, isa, n_bytes, max_split, max_2, max_3, max_4
    bytes = \n_bytes
    width = 16
    parts \type, \fp, xmm, \isa, 0, 12, \max_split
    parts \type, \fp, xmm, \isa, 2, 12, \max_split
    .if bytes == 4
        parts \type, \fp, xmm, \isa, 1, 12, \max_split
        parts \type, \fp, xmm, \isa, 3, 12, \max_split
    .endif
    pairs \type, \fp, xmm, \isa, \max_2
    width = 32
    parts \type, \fp, ymm, \isa, 0, 12, \max_split
    parts \type, \fp, ymm, \isa, 1, 12, \max_split
    .if evex
        pairs \type, \fp, ymm, \isa, \max_2
        width = 64
        parts \type, \fp, zmm, \isa, 0, 12, \max_split
        parts \type, \fp, zmm, \isa, 1, 12, \max_split
        wide \type, \fp, zmm, \isa, \max_2, \max_3, \max_4
    .else
        wide \type, \fp, ymm, \isa, \max_2, \max_3, \max_4
    .endif
.endm

evex = 1
begin avx512
all f64, pd, avx512, 8, 7, 12, 9, 6
all f32, ps, avx512, 4, 7, 12, 9, 6
evex = 0
begin avx2
all f64, pd, avx2, 8, 6, 6, 4, 2
all f32, ps, avx2, 4, 6, 6, 4, 2
#endif
#if defined(__ELF__)
    .section .note.GNU-stack, "", @progbits
#endif

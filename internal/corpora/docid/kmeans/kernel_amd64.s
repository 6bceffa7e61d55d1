#include "textflag.h"

// Each centre of the group: multiply with both rows, add to its two sums.
#define CENTRE(MUL, ADD, offset, a, b) \
	VMOVUPS offset(DX), Y12 \
	MUL     Y10, Y12, Y13   \
	MUL     Y11, Y12, Y14   \
	ADD     Y13, a, a       \
	ADD     Y14, b, b

// The loop over chunks. Y0..Y4 become the sums of the first row with centres 0..4, Y5..Y9
// the second's.
#define CHUNKS(MUL, ADD) \
	MOVQ   x0+0(FP), SI      \
	MOVQ   x1+8(FP), DI      \
	MOVQ   packed+16(FP), DX \
	MOVQ   chunks+24(FP), CX \
	MOVQ   out+32(FP), BX    \
	MOVQ   $4096, R8         \
	SUBQ   SI, R8            \
	VXORPS Y0, Y0, Y0        \
	VXORPS Y1, Y1, Y1        \
	VXORPS Y2, Y2, Y2        \
	VXORPS Y3, Y3, Y3        \
	VXORPS Y4, Y4, Y4        \
	VXORPS Y5, Y5, Y5        \
	VXORPS Y6, Y6, Y6        \
	VXORPS Y7, Y7, Y7        \
	VXORPS Y8, Y8, Y8        \
	VXORPS Y9, Y9, Y9        \
chunk:                           \
	VMOVUPS    (SI), Y10     \
	VMOVUPS    (DI), Y11     \
	PREFETCHT0 (R8)(SI*2)    \ // a line of what comes after the rows; never faults
	CENTRE(MUL, ADD, 0, Y0, Y5)   \
	CENTRE(MUL, ADD, 32, Y1, Y6)  \
	CENTRE(MUL, ADD, 64, Y2, Y7)  \
	CENTRE(MUL, ADD, 96, Y3, Y8)  \
	CENTRE(MUL, ADD, 128, Y4, Y9) \
	ADDQ $32, SI             \
	ADDQ $32, DI             \
	ADDQ $160, DX            \
	DECQ CX                  \
	JNZ  chunk

// Adds a row to another and returns.
#define ADDROW(ADD) \
	MOVQ sum+0(FP), DI     \
	MOVQ x+8(FP), SI       \
	MOVQ chunks+16(FP), CX \
add:                           \
	VMOVUPS (DI), Y0       \
	ADD     (SI), Y0, Y0   \
	VMOVUPS Y0, (DI)       \
	ADDQ    $32, SI        \
	ADDQ    $32, DI        \
	DECQ    CX             \
	JNZ     add            \
	VZEROUPPER             \
	RET

// Subtracts the mean from a row; Y0 becomes the lanes' sums of squares.
#define CENTRE_CHUNKS(SUB, MUL, ADD) \
	MOVQ   x+0(FP), DI       \
	MOVQ   mean+8(FP), SI    \
	MOVQ   chunks+16(FP), CX \
	VXORPS Y0, Y0, Y0        \
centre:                          \
	VMOVUPS (DI), Y1         \
	SUB     (SI), Y1, Y1     \
	VMOVUPS Y1, (DI)         \
	MUL     Y1, Y1, Y1       \
	ADD     Y1, Y0, Y0       \
	ADDQ    $32, SI          \
	ADDQ    $32, DI          \
	DECQ    CX               \
	JNZ     centre

// func dotsAVX2(x0, x1, packed *float32, chunks int, out *pairDots[float32])
TEXT ·dotsAVX2(SB), NOSPLIT, $0-40
	CHUNKS(VMULPS, VADDPS)

	// (0+1)+(2+3) in the low half, (4+5)+(6+7) in the high half, then their sum.
	VHADDPS      Y1, Y0, Y0
	VHADDPS      Y3, Y2, Y2
	VHADDPS      Y2, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPS       X1, X0, X0
	VMOVUPS      X0, (BX)
	VHADDPS      Y6, Y5, Y5
	VHADDPS      Y8, Y7, Y7
	VHADDPS      Y7, Y5, Y5
	VEXTRACTF128 $1, Y5, X6
	VADDPS       X6, X5, X5
	VMOVUPS      X5, 16(BX)
	VHADDPS      Y9, Y4, Y4
	VHADDPS      Y4, Y4, Y4
	VEXTRACTF128 $1, Y4, X9
	VADDPS       X9, X4, X4
	VMOVLPS      X4, 32(BX)
	VZEROUPPER
	RET

// The address of a row by its number.
#define ROW(offset, to) \
	MOVQ  offset(BX), to \
	IMULQ R10, to        \
	ADDQ  AX, to

// func fourAVX2(rows *float32, numbers *[4]int, packed *float32, chunks int, out *[4]float32)
TEXT ·fourAVX2(SB), NOSPLIT, $0-40
	MOVQ   rows+0(FP), AX
	MOVQ   numbers+8(FP), BX
	MOVQ   packed+16(FP), DX
	MOVQ   chunks+24(FP), CX
	MOVQ   CX, R10
	SHLQ   $5, R10
	ROW(0, SI)
	ROW(8, DI)
	ROW(16, R8)
	ROW(24, R9)
	MOVQ   out+32(FP), BX
	XORQ   AX, AX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3

four:
	VMOVUPS (DX), Y8
	VMULPS  (SI)(AX*1), Y8, Y4
	VMULPS  (DI)(AX*1), Y8, Y5
	VMULPS  (R8)(AX*1), Y8, Y6
	VMULPS  (R9)(AX*1), Y8, Y7
	VADDPS  Y4, Y0, Y0
	VADDPS  Y5, Y1, Y1
	VADDPS  Y6, Y2, Y2
	VADDPS  Y7, Y3, Y3
	ADDQ    $32, AX
	ADDQ    $160, DX
	DECQ    CX
	JNZ     four

	VHADDPS      Y1, Y0, Y0
	VHADDPS      Y3, Y2, Y2
	VHADDPS      Y2, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPS       X1, X0, X0
	VMOVUPS      X0, (BX)
	VZEROUPPER
	RET

// func addRowAVX2(sum, x *float32, chunks int)
TEXT ·addRowAVX2(SB), NOSPLIT, $0-24
	ADDROW(VADDPS)

// func centreRowAVX2(x, mean *float32, chunks int) float32
TEXT ·centreRowAVX2(SB), NOSPLIT, $0-28
	CENTRE_CHUNKS(VSUBPS, VMULPS, VADDPS)

	VHADDPS      Y0, Y0, Y0
	VHADDPS      Y0, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPS       X1, X0, X0
	VMOVSS       X0, ret+24(FP)
	VZEROUPPER
	RET

// func dots64AVX2(x0, x1, packed *float64, chunks int, out *pairDots[float64])
TEXT ·dots64AVX2(SB), NOSPLIT, $0-40
	CHUNKS(VMULPD, VADDPD)

	// 0+1 of two sums in the low half, 2+3 in the high half, then their sum.
	VHADDPD      Y1, Y0, Y0
	VEXTRACTF128 $1, Y0, X10
	VADDPD       X10, X0, X0
	VMOVUPD      X0, (BX)
	VHADDPD      Y3, Y2, Y2
	VEXTRACTF128 $1, Y2, X10
	VADDPD       X10, X2, X2
	VMOVUPD      X2, 16(BX)
	VHADDPD      Y6, Y5, Y5
	VEXTRACTF128 $1, Y5, X10
	VADDPD       X10, X5, X5
	VMOVUPD      X5, 32(BX)
	VHADDPD      Y8, Y7, Y7
	VEXTRACTF128 $1, Y7, X10
	VADDPD       X10, X7, X7
	VMOVUPD      X7, 48(BX)
	VHADDPD      Y9, Y4, Y4
	VEXTRACTF128 $1, Y4, X10
	VADDPD       X10, X4, X4
	VMOVUPD      X4, 64(BX)
	VZEROUPPER
	RET

// func addRow64AVX2(sum, x *float64, chunks int)
TEXT ·addRow64AVX2(SB), NOSPLIT, $0-24
	ADDROW(VADDPD)

// func centreRow64AVX2(x, mean *float64, chunks int) float64
TEXT ·centreRow64AVX2(SB), NOSPLIT, $0-32
	CENTRE_CHUNKS(VSUBPD, VMULPD, VADDPD)

	VHADDPD      Y0, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPD       X1, X0, X0
	VMOVSD       X0, ret+24(FP)
	VZEROUPPER
	RET

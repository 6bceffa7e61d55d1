#include "textflag.h"

// A query, whose four bytes are at offset: multiply with 64 documents' bytes, add to sums a to d.
#define QUERY(offset, a, b, c, d) \
	VPBROADCASTD offset(DX), Z24 \
	VPDPBUSD     Z24, Z20, a     \
	VPDPBUSD     Z24, Z21, b     \
	VPDPBUSD     Z24, Z22, c     \
	VPDPBUSD     Z24, Z23, d

// A bit for each document whose sum is not below the query's number.
#define BITS(offset, a, b, c, d) \
	VPBROADCASTD (offset/2)(BX), Z24 \
	VPCMPD       $5, Z24, a, K1  \
	VPCMPD       $5, Z24, b, K2  \
	VPCMPD       $5, Z24, c, K3  \
	VPCMPD       $5, Z24, d, K4  \
	KMOVW        K1, (offset+0)(DI) \
	KMOVW        K2, (offset+2)(DI) \
	KMOVW        K3, (offset+4)(DI) \
	KMOVW        K4, (offset+6)(DI)

// func notBelowVNNI(documents, queries *byte, steps int, low *[kmeans.Group]int32, bits *[kmeans.Group]uint64)
TEXT ·notBelowVNNI(SB), NOSPLIT, $0-40
	MOVQ   documents+0(FP), SI
	MOVQ   queries+8(FP), DX
	MOVQ   steps+16(FP), CX
	MOVQ   low+24(FP), BX
	MOVQ   bits+32(FP), DI
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	VPXORD Z4, Z4, Z4
	VPXORD Z5, Z5, Z5
	VPXORD Z6, Z6, Z6
	VPXORD Z7, Z7, Z7
	VPXORD Z8, Z8, Z8
	VPXORD Z9, Z9, Z9
	VPXORD Z10, Z10, Z10
	VPXORD Z11, Z11, Z11
	VPXORD Z12, Z12, Z12
	VPXORD Z13, Z13, Z13
	VPXORD Z14, Z14, Z14
	VPXORD Z15, Z15, Z15
	VPXORD Z16, Z16, Z16
	VPXORD Z17, Z17, Z17
	VPXORD Z18, Z18, Z18
	VPXORD Z19, Z19, Z19

step:
	VMOVDQU32 (SI), Z20
	VMOVDQU32 64(SI), Z21
	VMOVDQU32 128(SI), Z22
	VMOVDQU32 192(SI), Z23
	QUERY(0, Z0, Z1, Z2, Z3)
	QUERY(4, Z4, Z5, Z6, Z7)
	QUERY(8, Z8, Z9, Z10, Z11)
	QUERY(12, Z12, Z13, Z14, Z15)
	QUERY(16, Z16, Z17, Z18, Z19)
	ADDQ      $256, SI
	ADDQ      $20, DX
	DECQ      CX
	JNZ       step

	BITS(0, Z0, Z1, Z2, Z3)
	BITS(8, Z4, Z5, Z6, Z7)
	BITS(16, Z8, Z9, Z10, Z11)
	BITS(24, Z12, Z13, Z14, Z15)
	BITS(32, Z16, Z17, Z18, Z19)
	VZEROUPPER
	RET

// SPDX-License-Identifier: Apache-2.0
//
// More values that live at the same time than registers and stack have room for: each turn of the loop computes all of them
// from the ones before.

#include <core.p4>
#include <xdp_model.p4>

header data_t {
    bit<8>  turns;
    bit<64> first;
    bit<64> sum;
}

struct headers_t {
    data_t data;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.data);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        bit<64> v0 = hdr.data.first + 0; bit<64> v1 = hdr.data.first + 1; bit<64> v2 = hdr.data.first + 4;
        bit<64> v3 = hdr.data.first + 9; bit<64> v4 = hdr.data.first + 16; bit<64> v5 = hdr.data.first + 25;
        bit<64> v6 = hdr.data.first + 36; bit<64> v7 = hdr.data.first + 49; bit<64> v8 = hdr.data.first + 64;
        bit<64> v9 = hdr.data.first + 81; bit<64> v10 = hdr.data.first + 100; bit<64> v11 = hdr.data.first + 121;
        bit<64> v12 = hdr.data.first + 144; bit<64> v13 = hdr.data.first + 169; bit<64> v14 = hdr.data.first + 196;
        bit<64> v15 = hdr.data.first + 225; bit<64> v16 = hdr.data.first + 256; bit<64> v17 = hdr.data.first + 289;
        bit<64> v18 = hdr.data.first + 324; bit<64> v19 = hdr.data.first + 361; bit<64> v20 = hdr.data.first + 400;
        bit<64> v21 = hdr.data.first + 441; bit<64> v22 = hdr.data.first + 484; bit<64> v23 = hdr.data.first + 529;
        bit<64> v24 = hdr.data.first + 576; bit<64> v25 = hdr.data.first + 625; bit<64> v26 = hdr.data.first + 676;
        bit<64> v27 = hdr.data.first + 729; bit<64> v28 = hdr.data.first + 784; bit<64> v29 = hdr.data.first + 841;
        bit<64> v30 = hdr.data.first + 900; bit<64> v31 = hdr.data.first + 961; bit<64> v32 = hdr.data.first + 1024;
        bit<64> v33 = hdr.data.first + 1089; bit<64> v34 = hdr.data.first + 1156; bit<64> v35 = hdr.data.first + 1225;
        bit<64> v36 = hdr.data.first + 1296; bit<64> v37 = hdr.data.first + 1369; bit<64> v38 = hdr.data.first + 1444;
        bit<64> v39 = hdr.data.first + 1521; bit<64> v40 = hdr.data.first + 1600; bit<64> v41 = hdr.data.first + 1681;
        bit<64> v42 = hdr.data.first + 1764; bit<64> v43 = hdr.data.first + 1849; bit<64> v44 = hdr.data.first + 1936;
        bit<64> v45 = hdr.data.first + 2025; bit<64> v46 = hdr.data.first + 2116; bit<64> v47 = hdr.data.first + 2209;
        bit<64> v48 = hdr.data.first + 2304; bit<64> v49 = hdr.data.first + 2401; bit<64> v50 = hdr.data.first + 2500;
        bit<64> v51 = hdr.data.first + 2601; bit<64> v52 = hdr.data.first + 2704; bit<64> v53 = hdr.data.first + 2809;
        bit<64> v54 = hdr.data.first + 2916; bit<64> v55 = hdr.data.first + 3025; bit<64> v56 = hdr.data.first + 3136;
        bit<64> v57 = hdr.data.first + 3249; bit<64> v58 = hdr.data.first + 3364; bit<64> v59 = hdr.data.first + 3481;
        bit<64> v60 = hdr.data.first + 3600; bit<64> v61 = hdr.data.first + 3721; bit<64> v62 = hdr.data.first + 3844;
        bit<64> v63 = hdr.data.first + 3969; bit<64> v64 = hdr.data.first + 4096; bit<64> v65 = hdr.data.first + 4225;
        bit<64> v66 = hdr.data.first + 4356; bit<64> v67 = hdr.data.first + 4489; bit<64> v68 = hdr.data.first + 4624;
        bit<64> v69 = hdr.data.first + 4761; bit<64> v70 = hdr.data.first + 4900; bit<64> v71 = hdr.data.first + 5041;
        bit<64> v72 = hdr.data.first + 5184; bit<64> v73 = hdr.data.first + 5329; bit<64> v74 = hdr.data.first + 5476;
        bit<64> v75 = hdr.data.first + 5625; bit<64> v76 = hdr.data.first + 5776; bit<64> v77 = hdr.data.first + 5929;
        bit<64> v78 = hdr.data.first + 6084; bit<64> v79 = hdr.data.first + 6241; bit<64> v80 = hdr.data.first + 6400;
        bit<64> v81 = hdr.data.first + 6561; bit<64> v82 = hdr.data.first + 6724; bit<64> v83 = hdr.data.first + 6889;
        bit<64> v84 = hdr.data.first + 7056; bit<64> v85 = hdr.data.first + 7225; bit<64> v86 = hdr.data.first + 7396;
        bit<64> v87 = hdr.data.first + 7569; bit<64> v88 = hdr.data.first + 7744; bit<64> v89 = hdr.data.first + 7921;
        bit<64> v90 = hdr.data.first + 8100; bit<64> v91 = hdr.data.first + 8281; bit<64> v92 = hdr.data.first + 8464;
        bit<64> v93 = hdr.data.first + 8649; bit<64> v94 = hdr.data.first + 8836; bit<64> v95 = hdr.data.first + 9025;
        bit<64> v96 = hdr.data.first + 9216; bit<64> v97 = hdr.data.first + 9409; bit<64> v98 = hdr.data.first + 9604;
        bit<64> v99 = hdr.data.first + 9801; bit<64> v100 = hdr.data.first + 10000; bit<64> v101 = hdr.data.first + 10201;
        bit<64> v102 = hdr.data.first + 10404; bit<64> v103 = hdr.data.first + 10609; bit<64> v104 = hdr.data.first + 10816;
        bit<64> v105 = hdr.data.first + 11025; bit<64> v106 = hdr.data.first + 11236; bit<64> v107 = hdr.data.first + 11449;
        bit<64> v108 = hdr.data.first + 11664; bit<64> v109 = hdr.data.first + 11881; bit<64> v110 = hdr.data.first + 12100;
        bit<64> v111 = hdr.data.first + 12321; bit<64> v112 = hdr.data.first + 12544; bit<64> v113 = hdr.data.first + 12769;
        bit<64> v114 = hdr.data.first + 12996; bit<64> v115 = hdr.data.first + 13225; bit<64> v116 = hdr.data.first + 13456;
        bit<64> v117 = hdr.data.first + 13689; bit<64> v118 = hdr.data.first + 13924; bit<64> v119 = hdr.data.first + 14161;
        bit<64> v120 = hdr.data.first + 14400; bit<64> v121 = hdr.data.first + 14641; bit<64> v122 = hdr.data.first + 14884;
        bit<64> v123 = hdr.data.first + 15129; bit<64> v124 = hdr.data.first + 15376; bit<64> v125 = hdr.data.first + 15625;
        bit<64> v126 = hdr.data.first + 15876; bit<64> v127 = hdr.data.first + 16129;
        for (bit<8> turn = 0; turn < hdr.data.turns; turn = turn + 1) {
            v0 = v3 + (v1 ^ 0); v1 = v10 + (v2 ^ 1); v2 = v17 + (v3 ^ 2); v3 = v24 + (v4 ^ 3);
            v4 = v31 + (v5 ^ 4); v5 = v38 + (v6 ^ 5); v6 = v45 + (v7 ^ 6); v7 = v52 + (v8 ^ 7);
            v8 = v59 + (v9 ^ 8); v9 = v66 + (v10 ^ 9); v10 = v73 + (v11 ^ 10); v11 = v80 + (v12 ^ 11);
            v12 = v87 + (v13 ^ 12); v13 = v94 + (v14 ^ 13); v14 = v101 + (v15 ^ 14); v15 = v108 + (v16 ^ 15);
            v16 = v115 + (v17 ^ 16); v17 = v122 + (v18 ^ 17); v18 = v1 + (v19 ^ 18); v19 = v8 + (v20 ^ 19);
            v20 = v15 + (v21 ^ 20); v21 = v22 + (v22 ^ 21); v22 = v29 + (v23 ^ 22); v23 = v36 + (v24 ^ 23);
            v24 = v43 + (v25 ^ 24); v25 = v50 + (v26 ^ 25); v26 = v57 + (v27 ^ 26); v27 = v64 + (v28 ^ 27);
            v28 = v71 + (v29 ^ 28); v29 = v78 + (v30 ^ 29); v30 = v85 + (v31 ^ 30); v31 = v92 + (v32 ^ 31);
            v32 = v99 + (v33 ^ 32); v33 = v106 + (v34 ^ 33); v34 = v113 + (v35 ^ 34); v35 = v120 + (v36 ^ 35);
            v36 = v127 + (v37 ^ 36); v37 = v6 + (v38 ^ 37); v38 = v13 + (v39 ^ 38); v39 = v20 + (v40 ^ 39);
            v40 = v27 + (v41 ^ 40); v41 = v34 + (v42 ^ 41); v42 = v41 + (v43 ^ 42); v43 = v48 + (v44 ^ 43);
            v44 = v55 + (v45 ^ 44); v45 = v62 + (v46 ^ 45); v46 = v69 + (v47 ^ 46); v47 = v76 + (v48 ^ 47);
            v48 = v83 + (v49 ^ 48); v49 = v90 + (v50 ^ 49); v50 = v97 + (v51 ^ 50); v51 = v104 + (v52 ^ 51);
            v52 = v111 + (v53 ^ 52); v53 = v118 + (v54 ^ 53); v54 = v125 + (v55 ^ 54); v55 = v4 + (v56 ^ 55);
            v56 = v11 + (v57 ^ 56); v57 = v18 + (v58 ^ 57); v58 = v25 + (v59 ^ 58); v59 = v32 + (v60 ^ 59);
            v60 = v39 + (v61 ^ 60); v61 = v46 + (v62 ^ 61); v62 = v53 + (v63 ^ 62); v63 = v60 + (v64 ^ 63);
            v64 = v67 + (v65 ^ 64); v65 = v74 + (v66 ^ 65); v66 = v81 + (v67 ^ 66); v67 = v88 + (v68 ^ 67);
            v68 = v95 + (v69 ^ 68); v69 = v102 + (v70 ^ 69); v70 = v109 + (v71 ^ 70); v71 = v116 + (v72 ^ 71);
            v72 = v123 + (v73 ^ 72); v73 = v2 + (v74 ^ 73); v74 = v9 + (v75 ^ 74); v75 = v16 + (v76 ^ 75);
            v76 = v23 + (v77 ^ 76); v77 = v30 + (v78 ^ 77); v78 = v37 + (v79 ^ 78); v79 = v44 + (v80 ^ 79);
            v80 = v51 + (v81 ^ 80); v81 = v58 + (v82 ^ 81); v82 = v65 + (v83 ^ 82); v83 = v72 + (v84 ^ 83);
            v84 = v79 + (v85 ^ 84); v85 = v86 + (v86 ^ 85); v86 = v93 + (v87 ^ 86); v87 = v100 + (v88 ^ 87);
            v88 = v107 + (v89 ^ 88); v89 = v114 + (v90 ^ 89); v90 = v121 + (v91 ^ 90); v91 = v0 + (v92 ^ 91);
            v92 = v7 + (v93 ^ 92); v93 = v14 + (v94 ^ 93); v94 = v21 + (v95 ^ 94); v95 = v28 + (v96 ^ 95);
            v96 = v35 + (v97 ^ 96); v97 = v42 + (v98 ^ 97); v98 = v49 + (v99 ^ 98); v99 = v56 + (v100 ^ 99);
            v100 = v63 + (v101 ^ 100); v101 = v70 + (v102 ^ 101); v102 = v77 + (v103 ^ 102); v103 = v84 + (v104 ^ 103);
            v104 = v91 + (v105 ^ 104); v105 = v98 + (v106 ^ 105); v106 = v105 + (v107 ^ 106); v107 = v112 + (v108 ^ 107);
            v108 = v119 + (v109 ^ 108); v109 = v126 + (v110 ^ 109); v110 = v5 + (v111 ^ 110); v111 = v12 + (v112 ^ 111);
            v112 = v19 + (v113 ^ 112); v113 = v26 + (v114 ^ 113); v114 = v33 + (v115 ^ 114); v115 = v40 + (v116 ^ 115);
            v116 = v47 + (v117 ^ 116); v117 = v54 + (v118 ^ 117); v118 = v61 + (v119 ^ 118); v119 = v68 + (v120 ^ 119);
            v120 = v75 + (v121 ^ 120); v121 = v82 + (v122 ^ 121); v122 = v89 + (v123 ^ 122); v123 = v96 + (v124 ^ 123);
            v124 = v103 + (v125 ^ 124); v125 = v110 + (v126 ^ 125); v126 = v117 + (v127 ^ 126); v127 = v124 + (v0 ^ 127);
        }
        hdr.data.sum = v0 ^ v1 ^ v2 ^ v3 ^ v4 ^ v5 ^ v6 ^ v7 ^ v8 ^ v9 ^ v10 ^ v11 ^
            v12 ^ v13 ^ v14 ^ v15 ^ v16 ^ v17 ^ v18 ^ v19 ^ v20 ^ v21 ^ v22 ^ v23 ^
            v24 ^ v25 ^ v26 ^ v27 ^ v28 ^ v29 ^ v30 ^ v31 ^ v32 ^ v33 ^ v34 ^ v35 ^
            v36 ^ v37 ^ v38 ^ v39 ^ v40 ^ v41 ^ v42 ^ v43 ^ v44 ^ v45 ^ v46 ^ v47 ^
            v48 ^ v49 ^ v50 ^ v51 ^ v52 ^ v53 ^ v54 ^ v55 ^ v56 ^ v57 ^ v58 ^ v59 ^
            v60 ^ v61 ^ v62 ^ v63 ^ v64 ^ v65 ^ v66 ^ v67 ^ v68 ^ v69 ^ v70 ^ v71 ^
            v72 ^ v73 ^ v74 ^ v75 ^ v76 ^ v77 ^ v78 ^ v79 ^ v80 ^ v81 ^ v82 ^ v83 ^
            v84 ^ v85 ^ v86 ^ v87 ^ v88 ^ v89 ^ v90 ^ v91 ^ v92 ^ v93 ^ v94 ^ v95 ^
            v96 ^ v97 ^ v98 ^ v99 ^ v100 ^ v101 ^ v102 ^ v103 ^ v104 ^ v105 ^ v106 ^ v107 ^
            v108 ^ v109 ^ v110 ^ v111 ^ v112 ^ v113 ^ v114 ^ v115 ^ v116 ^ v117 ^ v118 ^ v119 ^
            v120 ^ v121 ^ v122 ^ v123 ^ v124 ^ v125 ^ v126 ^ v127;
    }
}

control dep(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.data);
    }
}

xdp(prs(), sw(), dep()) main;

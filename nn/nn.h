// Everything of nn.
#pragma once

#include <xgrad/nn/attention.h>
#include <xgrad/nn/attention_pooling.h>
#include <xgrad/nn/attention_recorder.h>
#include <xgrad/nn/decode.h>
#include <xgrad/nn/dropout.h>
#include <xgrad/nn/embedding.h>
#include <xgrad/nn/init.h>
#include <xgrad/nn/linear.h>
#include <xgrad/nn/linear_attention.h>
#include <xgrad/nn/masks.h>
#include <xgrad/nn/mlp.h>
#include <xgrad/nn/module.h>
#include <xgrad/nn/multihead.h>
#include <xgrad/nn/norm.h>
#include <xgrad/nn/positional.h>
#include <xgrad/nn/recurrent.h>
#include <xgrad/nn/seq2seq.h>
#include <xgrad/nn/stack.h>
#include <xgrad/nn/transformer.h>
#include <xgrad/nn/transformer_layers.h>
